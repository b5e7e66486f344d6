import mysqlCallbacks from 'mysql2';
import mysql from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { mysqlInbox } from '../../src/mysql/inbox-mysql-inbox.js';
import { inDatabase, quoteTables } from '../../src/mysql/inbox-options.js';
import { mysqlInboxSchema } from '../../src/mysql/inbox-schema.js';
import { change, nothing } from '../postgres/payment-change.js';
import { failureOf } from '../sql/failure-of.js';

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
      'a single connection. Each transaction needs its own connection',
    ],
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

it('has a schema of statements without a semicolon at their end', () => {
  for (const statement of mysqlInboxSchema()) expect(statement).not.toMatch(/;\s*$/);
});
