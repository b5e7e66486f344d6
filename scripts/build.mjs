// Builds dist/: tsc writes the declarations, tsup bundles these and the modules (tsup.config.ts), and here
// is what tsup has no option for.

import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'tsup';
import { buildDashboard } from './build-dashboard.mjs';
import { writeDeclarations } from './declarations.mjs';
import { moduleOf, subpaths } from './exports.mjs';

// Moved into its place at the end, so that a suite that reads dist/ never sees half a build.
const folder = path.resolve('dist-unfinished');
// Where tsup.config.ts reads them.
const declarations = 'dist-declarations';

try {
  remove(folder, declarations);
  writeDeclarations(declarations);
  await build({ outDir: folder, silent: true });
  await buildDashboard(path.join(folder, 'mock-server/dashboard.html'));
  for (const engine of ['postgres', 'mysql']) {
    cpSync(`src/${engine}/schema.sql`, path.join(folder, engine, 'schema.sql'));
  }
  cpSync('src/openapi/openapi.json', path.join(folder, 'openapi.json'));
  for (const subpath of subpaths) {
    const module = path.join(folder, moduleOf(subpath));
    declareForImport(module);
    if (!existsSync(`${module}.js`)) reExport(module);
  }
  remove('dist');
  renameSync(folder, 'dist');
} finally {
  remove(folder, declarations);
}

// The declarations for `import` re-export those for `require`, so that a class has one type however it is
// loaded. msw 2 has a class for `import` and another for `require`, so what names one is written for each.
function declareForImport(module) {
  const code = readFileSync(`${module}.d.cts`, 'utf8');
  const isOfBoth = !code.includes("from 'msw'");
  writeFileSync(`${module}.d.ts`, isOfBoth ? "export * from './index.cjs';\n" : code);
}

/**
 * Writes the ES module of a subpath whose one implementation is the CommonJS module beside it. Between them is
 * a file that Node reads for the names: in the implementation they cost it two thirds of the time to import
 * the mock server.
 */
function reExport(module) {
  const names = Object.keys(createRequire(import.meta.url)(`${module}.cjs`));
  writeFileSync(`${module}.js`, `export {\n  ${names.join(',\n  ')},\n} from './names.cjs';\n`);
  const assignments = names.map((name) => `exports.${name} = all.${name};\n`).join('');
  writeFileSync(
    path.join(path.dirname(module), 'names.cjs'),
    `const all = require('./index.cjs');\n${assignments}`,
  );
}

function remove(...folders) {
  for (const name of folders) rmSync(name, { recursive: true, force: true });
}
