// The list of the package's subpaths. `merchant-payments/<subpath>` is src/<subpath>/index.ts. The build, the
// reference and package.json are generated from it:
//
// node scripts/subpaths.mjs fails if package.json differs node scripts/subpaths.mjs --write writes
// package.json's exports and typesVersions

import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

/** In the order of the reference; '' is the package itself. */
export const subpaths = [
  '',
  'callback',
  'callback/web',
  'receiver',
  'node',
  'fetch',
  'fastify',
  'lambda',
  'store',
  'postgres',
  'mysql',
  'sqlite',
  'redis',
  'opentelemetry',
  'mock-server',
  'msw',
  'testing',
];

/**
 * Files that are exported unchanged, with their sources. scripts/build-dashboard.mjs builds the dashboard.
 */
export const assets = {
  'postgres/schema.sql': 'src/postgres/schema.sql',
  'mysql/schema.sql': 'src/mysql/schema.sql',
  'mock-server/dashboard.html': undefined,
  'openapi.json': 'src/openapi/openapi.json',
};

/** The path of a subpath's module without its extension, in src/ and in dist/: `callback/index`. */
export const moduleOf = (subpath) => (subpath === '' ? 'index' : `${subpath}/index`);

const key = (subpath) => (subpath === '' ? '.' : `./${subpath}`);

function makeExports() {
  const modules = subpaths.map((subpath) => {
    const file = `./dist/${moduleOf(subpath)}`;
    const target = {
      import: { types: `${file}.d.ts`, default: `${file}.js` },
      require: { types: `${file}.d.cts`, default: `${file}.cjs` },
    };
    return [key(subpath), target];
  });
  const files = Object.keys(assets).map((asset) => [key(asset), `./dist/${asset}`]);
  return Object.fromEntries([...modules, ...files, ['./package.json', './package.json']]);
}

// For TypeScript's module resolution `node10`, which does not know exports.
function makeTypesVersions() {
  const types = subpaths
    .filter((subpath) => subpath !== '')
    .map((subpath) => [subpath, [`./dist/${moduleOf(subpath)}.d.cts`]]);
  return { '*': Object.fromEntries(types) };
}

if (process.argv[1] === import.meta.filename) {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const made = { ...manifest, exports: makeExports(), typesVersions: makeTypesVersions() };
  if (process.argv.includes('--write')) {
    writeFileSync('package.json', `${JSON.stringify(made, null, 2)}\n`);
  } else if (!isDeepStrictEqual(made, manifest)) {
    console.error('package.json differs from scripts/subpaths.mjs: run it with --write');
    process.exitCode = 1;
  }
}
