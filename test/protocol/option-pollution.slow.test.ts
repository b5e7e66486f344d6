import { describe, expect, it } from 'vitest';
import { listAllNames, listOptionNames } from './option-names.js';
import { findDifferences, publicFunctions } from './public-functions.js';

// Node itself reads `hints` from the options of each connection, whoever makes it.
const options = listOptionNames();
const names = [...new Set([...listAllNames(), ...options])].filter((name) => name !== 'hints');

it('knows the options of every public function, and the fields of the package', () => {
  expect(options).toEqual(
    expect.arrayContaining(['maxRetries', 'dangerouslyAllowHttp', 'headers', 'parkAfter', 'port']),
  );
  expect(options.length).toBeGreaterThan(150);
  expect(names.length).toBeGreaterThan(500);
});

// Also the fields of its own objects, which may lack one that is optional.
describe('does the same when Object.prototype has any field of the package', () => {
  const { postgresStore: _, ...others } = publicFunctions;
  it.each(Object.keys(others))('%s', async (what) => {
    expect(await findDifferences(what, names)).toEqual([]);
  });
});

it('postgresStore does the same when Object.prototype has an option of a store', async () => {
  const names = listOptionNames(/^(?:store|postgres|client)[\\/]/);
  expect(names).toEqual(expect.arrayContaining(['prefix', 'parkAfter']));
  expect(await findDifferences('postgresStore', names)).toEqual([]);
});
