// Packs the package as it would be published and checks the tarball: its files, that its guides link only to
// these, that its exports resolve for every kind of consumer (publint, attw), and its dependencies.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { assets } from './exports.mjs';
import { findMissingLinks, findUnlinked } from './packed-links.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-pack-'));
const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' });

// Subpaths that run without Node modules, with the files that they share.
const PORTABLE = ['callback', 'fetch', 'store', 'redis'];

const ALLOWED = [
  /^dist\/(?:[\w-]+\/)*[\w.-]+\.(?:c?js|d\.c?ts)$/,
  /^dist\/(?:mysql|postgres)\/schema\.sql$/,
  /^dist\/mock-server\/dashboard\.html$/,
  /^dist\/openapi\.json$/,
  /^docs\/[\w.-]+\.md$/,
  /^docs\/images\/[\w-]+\.svg$/,
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|THIRD_PARTY_NOTICES|llms\.txt)$/,
];

// An import of zod, or its settings: those in the global object are of a user's zod.
const NAMES_ZOD =
  /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)["'`]zod["'`/]|= globalThis\.__zod_global/;

try {
  const [packed] = JSON.parse(
    // Set explicitly: a dry run of npm publish passes its own setting to every npm that it runs.
    execFileSync(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--no-dry-run', '--pack-destination', folder],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    ),
  );
  const stray = packed.files.filter(({ path: file }) => !ALLOWED.some((rule) => rule.test(file)));
  if (stray.length > 0) {
    throw new Error(
      `The tarball has files that users do not need: ${stray.map((file) => file.path)}`,
    );
  }

  const packedFiles = packed.files.map((file) => file.path);
  const read = (file) => readFileSync(file, 'utf8');
  const missingLinks = findMissingLinks(packedFiles, read);
  if (missingLinks.length > 0) {
    throw new Error(
      `Links to what is not in the tarball. Pack the file, or name it without a link:\n${missingLinks.join('\n')}`,
    );
  }
  const unseen = findUnlinked('.svg', packedFiles, read);
  if (unseen.length > 0) throw new Error(`Packed, but shown by no packed guide: ${unseen}`);

  const notices = read('THIRD_PARTY_NOTICES');
  for (const name of ['preact', 'zod']) {
    const { version } = JSON.parse(read(`node_modules/${name}/package.json`));
    if (!notices.includes(`\n${name} ${version} (`)) {
      throw new Error(`THIRD_PARTY_NOTICES must name the bundled ${name} ${version}`);
    }
  }

  const {
    dependencies,
    peerDependencies,
    exports: entries,
  } = JSON.parse(readFileSync('package.json', 'utf8'));
  if (Object.keys(dependencies).join() !== 'undici') {
    throw new Error(
      `undici must be the only dependency, but these are: ${Object.keys(dependencies)}`,
    );
  }
  const files = new Set(packed.files.map((file) => `./${file.path}`));
  const targets = JSON.stringify(entries).match(/\.\/dist\/[^"]+/g);
  const missing = targets.filter((target) => !files.has(target));
  if (missing.length > 0) throw new Error(`Exported, but not in the tarball: ${missing}`);

  // Types of any other package would be `any` to users who have not installed it.
  const known = new RegExp(
    `^(?:\\.|node:|(?:${Object.keys({ ...dependencies, ...peerDependencies }).join('|')})$)`,
  );
  const named = packedFiles
    .filter((file) => /\.d\.c?ts$/.test(file))
    .flatMap((file) => ts.preProcessFile(read(file)).importedFiles);
  const strangers = named.map(({ fileName }) => fileName).filter((name) => !known.test(name));
  if (strangers.length > 0) throw new Error(`The declarations must not import ${strangers}`);

  for (const subpath of PORTABLE) {
    const imported = await importsOf(`dist/${subpath}/index.js`);
    if (imported.length > 0) {
      throw new Error(`${subpath} must run without Node, but imports ${imported.join(', ')}`);
    }
  }

  const unbundled = packedFiles.filter(
    (file) => /^dist\/.*\.c?[jt]s$/.test(file) && NAMES_ZOD.test(read(file)),
  );
  if (unbundled.length > 0) {
    throw new Error(`zod is bundled, and no type is of it, but these files name it: ${unbundled}`);
  }

  const tarball = path.join(folder, packed.filename);
  run('npx', '--no-install', 'publint', 'run', tarball, '--strict');
  // Files to read, not modules.
  const notModules = ['--exclude-entrypoints', ...assets];
  run('npx', '--prefix', 'scripts', '--no-install', 'attw', tarball, ...notModules);
  console.log(`${packed.filename}: ${packed.files.length} files, ${packed.size} bytes packed`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** What a bundle of this module leaves to the runtime. */
async function importsOf(entryPoint) {
  const { metafile } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    format: 'esm',
    platform: 'node',
    treeShaking: false,
    logLevel: 'error',
    write: false,
    metafile: true,
  });
  return Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
}
