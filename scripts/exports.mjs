// What package.json exports, for whatever is made of it or checks it.

import { readFileSync } from 'node:fs';

const targets = Object.entries(JSON.parse(readFileSync('package.json', 'utf8')).exports);
const named = (isModule) =>
  targets
    .filter(([, target]) => (typeof target !== 'string') === isModule)
    .map(([name]) => name.slice('./'.length));

/** In the order of the reference; '' is the package itself. */
export const subpaths = named(true);

/** Files that are no modules. */
export const assets = named(false);

/** The path of a subpath's module without its extension, in src/ and in dist/: `callback/index`. */
export const moduleOf = (subpath) => (subpath === '' ? 'index' : `${subpath}/index`);
