import mysqlCallbacks from 'mysql2';
import mysql from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/errors.js';
import { mysqlInbox } from '../../../src/inbox/mysql/mysql-inbox.js';
import { inDatabase, quoteTables } from '../../../src/inbox/mysql/options.js';
import { mysqlInboxSchema } from '../../../src/inbox/mysql/schema.js';
import { change, nothing } from '../postgres/payment-change.js';

// Neither connects before it is used.
const pool = mysql.createPool('mysql://u:secret@127.0.0.1:1/db');
const callbackPool = mysqlCallbacks.createPool('mysql://u:secret@127.0.0.1:1/db');

const failureOf = (build: () => unknown): InvalidOptionError => {
  try {
    build();
  } catch (error) {
    if (error instanceof InvalidOptionError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('the pool', () => {
  it.each([
    ['a pool with callbacks', callbackPool, 'a pool with callbacks. Pass pool.promise()'],
    ['a cluster', mysql.createPoolCluster(), 'a PoolCluster. Pass one pool'],
    [
      'a single connection',
      { query() {}, beginTransaction() {} },
      'a single connection. Each transaction needs its own connection',
    ],
    ['nothing', undefined, 'nothing'],
    ['null', null, 'null'],
    ['a connection string', 'mysql://u:secret@host/db', 'a string of 24 characters'],
    ['an object without getConnection', {}, 'an object'],
  ])('can not be %s', (_name, value, received) => {
    const error = failureOf(() => mysqlInbox(value as never));
    expect(error.option).toBe('pool');
    expect(error.message).toContain(`received ${received}`);
    expect(error.message).not.toContain('secret');
  });

  it('is one of mysql2/promise, or that of the one with callbacks', () => {
    for (const one of [pool, callbackPool.promise()]) expect(() => mysqlInbox(one)).not.toThrow();
  });

  it('whose connections are none fails at the first callback', async () => {
    const inbox = mysqlInbox({ getConnection: async () => ({}) } as never);
    await expect(inbox.process(change('none'), nothing)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'pool',
    });
  });
});

describe.each([
  'lockTimeoutMs',
  'acquireTimeoutMs',
  'commandTimeoutMs',
  'transactionTimeoutMs',
  'idleTimeoutMs',
])('%s', (option) => {
  it.each([0, -1, 1.5, Number.NaN, 2_147_483_648, '5'])('can not be %s', (value) => {
    const error = failureOf(() => mysqlInbox(pool, { [option]: value }));
    expect(error.option).toBe(option);
    expect(error.message).toContain('whole number of milliseconds from 1 to 2147483647');
  });

  it.each([1, 2_147_483_647, undefined])('can be %s', (value) => {
    expect(() => mysqlInbox(pool, { [option]: value })).not.toThrow();
  });
});

describe('prefix', () => {
  it.each(['', '1st', 'a b', 'a`b', 'a;b', 'a.b.c', 'a'.repeat(41), 7, null])(
    'can not be %j',
    (prefix) => {
      const error = failureOf(() => mysqlInbox(pool, { prefix } as never));
      expect(error.option).toBe('prefix');
      expect(failureOf(() => mysqlInboxSchema({ prefix } as never)).message).toBe(error.message);
    },
  );
});

describe('the tables in the database of the pool', () => {
  const { events } = inDatabase(quoteTables('shop_'), 'a`b');

  it('are named with that database, quoted', () => {
    expect(events).toBe('`a``b`.`shop_events`');
  });

  it('are named without one if there is none, or if the prefix names one', () => {
    expect(inDatabase(quoteTables('shop_'), '')).toEqual(quoteTables('shop_'));
    expect(inDatabase(quoteTables('billing.shop_'), 'a')).toEqual(quoteTables('billing.shop_'));
  });
});
