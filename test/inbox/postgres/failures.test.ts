import { describe, expect, it } from 'vitest';
import { explainMissing, sqlStateOf } from '../../../src/inbox/postgres/failures.js';

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

  it.each(['text', null])('is thrown on as it is, %o for example', (error) => {
    const failing = Promise.reject(error).catch((reason) => explainMissing('eventsTable', reason));
    return expect(failing).rejects.toBe(error);
  });
});
