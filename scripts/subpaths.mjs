// The list of the package's subpaths. `merchant-payments/<subpath>` is src/<subpath>/index.ts. The build, the
// reference and package.json are generated from it:
//
// node scripts/subpaths.mjs fails if package.json differs node scripts/subpaths.mjs --write writes
// package.json's exports and typesVersions

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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
  'inbox',
  'inbox/postgres',
  'inbox/mysql',
  'inbox/redis',
  'inbox/sqlite',
  'outbox',
  'outbox/mysql',
  'outbox/postgres',
  'outbox/sqlite',
  'opentelemetry',
  'mock-server',
  'msw',
  'testing',
];

/**
 * Built into one file each: loading a verifier from many files takes several times as long. `callback/web` is for
 * edge runtimes, which load ES modules.
 */
export const singleFile = { esm: ['callback', 'callback/web'], cjs: ['callback'] };

/**
 * Built once, as CommonJS, which the ES module re-exports: two builds would double the installed size, and no
 * browser or edge runtime bundles these.
 */
export const oneImplementation = [
  'inbox/mysql',
  'inbox/postgres',
  'inbox/redis',
  'inbox/sqlite',
  'outbox',
  'outbox/mysql',
  'outbox/postgres',
  'outbox/sqlite',
  'mock-server',
  'testing',
];

/**
 * Files that are exported unchanged, with their sources. scripts/build-dashboard.mjs builds the dashboard.
 */
export const assets = {
  'inbox/postgres/schema.sql': 'src/inbox/postgres/schema.sql',
  'inbox/mysql/schema.sql': 'src/inbox/mysql/schema.sql',
  'outbox/mysql/schema.sql': 'src/outbox/mysql/schema.sql',
  'outbox/postgres/schema.sql': 'src/outbox/postgres/schema.sql',
  'mock-server/dashboard.html': undefined,
  'openapi.json': 'src/openapi/openapi.json',
};

/** The path of a subpath's module without its extension, in src/ and in dist/: `callback/index`. */
export const moduleOf = (subpath) => (subpath === '' ? 'index' : `${subpath}/index`);

/** The modules of subpaths as a bundler takes them: `callback/index: src/callback/index.ts`. */
export const entriesOf = (names, from = 'src', ending = '.ts') =>
  Object.fromEntries(
    names.map((name) => [moduleOf(name), path.join(from, `${moduleOf(name)}${ending}`)]),
  );

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
