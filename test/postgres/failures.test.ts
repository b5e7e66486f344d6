import { describe, expect, it } from 'vitest';
import { sqlStateOf } from '../../src/postgres/failures.js';
import { explainMissing } from '../../src/postgres/store-schema.js';

describe('what a driver rejects with', () => {
  it.each([
    [{ code: '42P01' }, '42P01'],
    [{}, undefined],
    ['text', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%o has the SQLSTATE %s', (error, sqlState) => {
    expect(sqlStateOf(error)).toBe(sqlState);
  });

  it.each(['text', null])('is passed on as it is, %o for example', (error) => {
    expect(explainMissing(error)).toBe(error);
  });
});
