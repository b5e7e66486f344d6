import { describe, expect, it } from 'vitest';
import { listOptionNames } from './option-names.js';
import { findDifferences, publicFunctions, usesSockets } from './public-functions.js';

const names = listOptionNames();

it('knows the options of every public function', () => {
  expect(names).toEqual(
    expect.arrayContaining(['maxRetries', 'dangerouslyAllowHttp', 'headers', 'parkAfter', 'port']),
  );
  expect(names.length).toBeGreaterThan(150);
});

describe('does the same when Object.prototype has an option of any public function', () => {
  const { postgresStore: _takesMinutes, ...others } = publicFunctions;
  const functions = Object.keys(others).filter((what) => !usesSockets(what));
  it.each(functions)('%s', async (what) => {
    expect(await findDifferences(what, names)).toEqual([]);
  });
});
