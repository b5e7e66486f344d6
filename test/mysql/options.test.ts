import mysqlCallbacks from 'mysql2';
import mysql from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { change, nothing } from '../postgres/change.js';
import { outcomeOf } from '../store/outcome-of.js';
import { failureOf } from '../store/sql/failure-of.js';

// Neither connects before it is used.
const pool = mysql.createPool('mysql://u:secret@127.0.0.1:1/db');
const callbackPool = mysqlCallbacks.createPool('mysql://u:secret@127.0.0.1:1/db');

describe('the pool', () => {
  it.each([
    ['a pool with callbacks', callbackPool, 'a pool with callbacks. Pass pool.promise()'],
    ['a cluster', mysql.createPoolCluster(), 'a PoolCluster. Pass one pool'],
    [
      'a single connection',
      { query() {}, beginTransaction() {} },
      'an object. Each transaction needs its own connection',
    ],
  ])('can not be %s', (_name, value, received) => {
    const error = failureOf(() => mysqlStore(value as never));
    expect(error.option).toBe('database');
    expect(error.message).toContain(`received ${received}`);
    expect(error.message).not.toContain('secret');
  });

  it('is one of mysql2/promise, or that of the one with callbacks', () => {
    for (const one of [pool, callbackPool.promise()]) expect(() => mysqlStore(one)).not.toThrow();
  });

  it('whose connections are none fails at the first callback', async () => {
    const store = mysqlStore({ getConnection: async () => ({}) } as never);
    await expect(outcomeOf(store, change('none'), nothing)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'database',
    });
  });
});
