// Builds dist/: readable modules for ESM and CommonJS, their declarations, the command line, and files that
// are exported unchanged.

import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { buildDashboard } from './build-dashboard.mjs';
import { bundleDeclarations } from './declarations.mjs';
import {
  assets,
  entriesOf,
  moduleOf,
  oneImplementation,
  singleFile,
  subpaths,
} from './subpaths.mjs';

// Not bundled. The command line imports the package by its name, as any user does.
const external = [/^node:/, /^undici(?:\/|$)/, 'msw', '@opentelemetry/api', /^merchant-payments/];

// Built beside dist/ and moved into its place at the end, so that a suite that reads dist/ never sees half a
// build.
const folder = mkdtempSync('dist-');

// The msw handlers are an ES module, as msw may be. They use the same mock as mock-server.
const mockFromItsSubpath = {
  name: 'mock-from-its-subpath',
  resolveId(source) {
    if (source !== '../mock-server/service.js') return undefined;
    return { id: '../mock-server/index.js', external: true };
  },
};

// Exports written as plain assignments take a fifth of the text. No module assigns again what it exports, so no
// getters are needed.
const plainExports = {
  name: 'plain-exports',
  renderChunk: (code) => code.replaceAll(EXPORTED_GETTER, 'exports.$1 = $2;'),
};
const EXPORTED_GETTER =
  /Object\.defineProperty\(exports, "(\w+)", \{\s+enumerable: true,\s+get: function ?\(\) \{\s+return (\w+);\s+\}\s+\}\);/g;

// zod keeps its settings in a global object, which a user's zod has too: with settings of its own, the bundled one
// neither obeys the user's nor changes them.
const ownSettings = { 'globalThis.__zod_globalConfig': '{ "jitless": true }' };

try {
  const chunked = (format) => subpaths.filter((subpath) => !singleFile[format].includes(subpath));
  const inBoth = chunked('esm').filter((subpath) => !oneImplementation.includes(subpath));
  const [required] = await Promise.all([
    bundle({ input: entriesOf(chunked('cjs')) }, 'cjs'),
    bundle(
      {
        input: { ...entriesOf(inBoth), 'cli/main': 'src/cli/main.ts' },
        plugins: [mockFromItsSubpath],
      },
      'esm',
    ),
    ...Object.entries(singleFile).flatMap(([format, names]) =>
      names.map((subpath) => bundle({ input: entriesOf([subpath]) }, format)),
    ),
    buildDashboard(path.join(folder, 'mock-server/dashboard.html')),
  ]);
  for (const subpath of oneImplementation) reExport(subpath, required);
  await declare();
  for (const [asset, source] of Object.entries(assets)) {
    if (source) cpSync(source, path.join(folder, asset));
  }
  rmSync('dist', { recursive: true, force: true });
  renameSync(folder, 'dist');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function bundle({ plugins = [], ...options }, format) {
  const build = await rolldown({
    plugins: [...plugins, format === 'cjs' && plainExports],
    external,
    platform: 'node',
    tsconfig: true,
    transform: { target: 'node20.18', define: ownSettings },
    // What CommonJS lacks has a fallback beside it.
    checks: { emptyImportMeta: false },
    ...options,
  });
  const ending = format === 'esm' ? 'js' : 'cjs';
  const { output } = await build.write({
    dir: folder,
    format,
    entryFileNames: `[name].${ending}`,
    chunkFileNames: ({ moduleIds }) =>
      `${moduleIds.every(isOfCommandLine) ? 'cli' : 'shared'}/[name].${ending}`,
    // One file of what most subpaths share: a fifth of the time to import the client went into nine of them.
    codeSplitting: { groups: [{ name: 'core', test: isCore, minShareCount: 2 }] },
    // Readable where it is installed; the documentation of what is public is in the declarations.
    minify: false,
    minifyInternalExports: false,
    comments: { legal: true, annotation: true, jsdoc: false },
    // Jest runs CommonJS in a VM that refuses `import()`.
    dynamicImportInCjs: false,
  });
  await build.close();
  return output;
}

function isOfCommandLine(file) {
  return path.relative('src/cli', file).startsWith('..') === false;
}

function isCore(file) {
  if (file.includes('/node_modules/zod/')) return true;
  const [folder, name] = path.relative('src', file).split(path.sep);
  // These are the tools', and their schemas would stay in every bundle.
  if (name === 'service-profile.ts' || name === 'strict-schema.ts') return false;
  // It needs Buffer, and runtimes without that load the core too.
  if (folder === 'callback' && name === 'verify.ts') return false;
  return name === undefined || folder === 'protocol' || folder === 'callback';
}

/**
 * The ES module of a subpath whose one implementation is the CommonJS module beside it. Between them is a file
 * that Node reads for the names: in the implementation they cost it half of the time to import the mock server.
 */
function reExport(subpath, required) {
  const { exports } = required.find(({ fileName }) => fileName === `${moduleOf(subpath)}.cjs`);
  const names = exports.sort();
  write(`${moduleOf(subpath)}.js`, `export {\n  ${names.join(',\n  ')},\n} from './names.cjs';\n`);
  write(
    `${subpath}/names.cjs`,
    [
      "const all = require('./index.cjs');\n",
      ...names.map((name) => `exports.${name} = all.${name};\n`),
    ].join(''),
  );
}

// One set for both formats: the declarations for `require` are the real ones, those for `import`
// re-export them, so that a class has one type however it is loaded.
async function declare() {
  const files = await bundleDeclarations({
    entryFileNames: '[name].d.cts',
    chunkFileNames: ({ name }) => `shared/${name.replace(/\.d$/, '')}.d.cts`,
  });
  const declared = new Map(files.map(({ fileName, code }) => [fileName, indentByTabs(code)]));
  for (const [fileName, code] of declared) write(fileName, code);
  for (const subpath of subpaths) {
    const code = declared.get(`${moduleOf(subpath)}.d.cts`) ?? '';
    // msw 2 has a class for `import` and another for `require`, so what names one is written for each.
    const isOfBoth = !code.includes("from 'msw'");
    write(`${moduleOf(subpath)}.d.ts`, isOfBoth ? "export * from './index.cjs';\n" : code);
  }
}

/** As the modules beside them. */
function indentByTabs(code) {
  return code.replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
}

function write(file, text) {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}
