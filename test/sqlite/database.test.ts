import { expect, test, vi } from 'vitest';
import { Claims } from '../../src/sqlite/claims.js';
import {
  assertDatabase,
  isInTransaction,
  isLocked,
  isOutsideTransaction,
} from '../../src/sqlite/database.js';
import { sqliteDialect } from '../../src/sqlite/dialect.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { Sql } from '../../src/store/sql/sql.js';
import { changeAt } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';
import { unusedClient } from '../store/unused-client.js';

test.each([
  // better-sqlite3 tells by code, node:sqlite by errcode, whose low byte is the kind.
  [{ code: 'SQLITE_BUSY' }, true],
  [{ code: 'SQLITE_BUSY_SNAPSHOT' }, true],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 5 }, true],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 517 }, true],
  [{ code: 'SQLITE_CONSTRAINT' }, false],
  [{ code: 'NOT_SQLITE_BUSY' }, false],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 1 }, false],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 1_299 }, false],
  [{ code: 'ERR_SQLITE_ERROR', errcode: '5' }, false],
  [new Error('database is locked'), false],
  [undefined, false],
  [null, false],
])('%j is a lock of another connection: %s', (error, locked) => {
  expect(isLocked(error)).toBe(locked);
});

test.each([
  [{ inTransaction: true }, true, false],
  [{ isTransaction: true }, true, false],
  [{ inTransaction: false }, false, true],
  [{ isTransaction: false }, false, true],
  [{}, false, false],
])('%j is in a transaction: %s, and surely in none: %s', (database, open, closed) => {
  const methods = { exec: () => undefined, prepare: () => undefined as never };
  expect(isInTransaction({ ...methods, ...database })).toBe(open);
  expect(isOutsideTransaction({ ...methods, ...database })).toBe(closed);
});

test('a claim of another owner is neither renewed nor released', () => {
  const claims = new Claims('mp_', new Sql(sqliteDialect('mp_', Date.now)));
  for (const step of [claims.renew('order-1', 'one', 5), claims.release('order-1', 'one')]) {
    expect(step.next().value).toMatch(/^SELECT json_array\(owner\)/);
    expect(step.next([JSON.stringify(['another'])])).toEqual({ done: true, value: false });
  }
});

test.each([
  [
    undefined,
    'is missing; it must be a DatabaseSync of node:sqlite or a Database of better-sqlite3',
  ],
  [null, 'received null'],
  [{}, 'with exec and prepare; received an object'],
  [{ exec: () => undefined }, 'with exec and prepare; received an object'],
  [{ prepare: () => undefined }, 'with exec and prepare; received an object'],
  ['shop.db', 'received a string'],
])('refuses %j as a database', (database, says) => {
  const refused = expect.objectContaining({
    code: 'INVALID_OPTION',
    option: 'database',
    message: expect.stringContaining(says),
  });
  expect(() => assertDatabase(database)).toThrow(refused);
  expect(() => sqliteStore(database as never)).toThrow(refused);
});

const unused = { exec: () => undefined, prepare: () => undefined as never };

test.each([
  [{ leaseMs: 99 }, 'leaseMs', 'from 100 to 2147483647; received 99'],
  [{ leaseMs: 2_147_483_648 }, 'leaseMs', 'from 100 to 2147483647'],
  [{ renewForMs: 0 }, 'renewForMs', 'from 1; received 0'],
  [{ renewForMs: 1.5 }, 'renewForMs', 'a whole number of milliseconds from 1; received 1.5'],
  [{ now: 0 }, 'now', 'must be a function that returns epoch milliseconds'],
  [{ prefix: '' }, 'prefix', 'received an empty string'],
  [{ prefix: ['payments_'] }, 'prefix', 'received an array'],
  [{ prefix: 'a"; DROP TABLE x; --' }, 'prefix', 'ASCII letters'],
  [{ prefix: '1a' }, 'prefix', 'not starting with a digit'],
  [{ prefix: 'sqlite_payments' }, 'prefix', 'or sqlite_'],
  [{ prefix: 'SQLite_x' }, 'prefix', 'or sqlite_'],
  [{ prefix: 'x'.repeat(41) }, 'prefix', '1 to 40'],
  [{ prefix: 'a\n' }, 'prefix', 'ASCII letters'],
  [{ client: {} }, 'client', 'must be a PaymentClient'],
  [{ tablePrefix: 'shop_' }, 'tablePrefix', 'tablePrefix is not a known option'],
  [null, 'options', 'must be an object with client, declined'],
])('refuses the options %j', (options, option, says) => {
  expect(() => sqliteStore(unused, options as object)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option,
      message: expect.stringContaining(says),
    }),
  );
});

test('has the methods of payments with a client, and none without one', () => {
  const methods = [
    'create',
    'record',
    'send',
    'get',
    'markCreated',
    'markNotCreated',
    'recover',
    'startRecovery',
  ];
  const [without, withClient] = [
    sqliteStore(unused),
    sqliteStore(unused, { client: unusedClient }),
  ] as unknown as [Record<string, unknown>, Record<string, unknown>];
  for (const method of methods) {
    expect(without[method]).toBeUndefined();
    expect(withClient[method]).toBeInstanceOf(Function);
  }
});

// Drivers may return this answer by a promise or a callback.
test.each([undefined, null, Promise.resolve([['{}']]), {}, [1], [{ answer: 1 }], [null]])(
  'runs no work when the rows are %o',
  async (rows) => {
    const database = { exec: () => undefined, prepare: () => ({ run: () => {}, all: () => rows }) };
    const work = vi.fn(async () => {});
    const change = changeAt('2026-01-31T12:00:00Z');
    await expect(outcomeOf(sqliteStore(database), change, work)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'database',
      message:
        'database must answer a query with its rows at once; received something else: use a DatabaseSync of node:sqlite or a Database of better-sqlite3',
    });
    expect(work).not.toHaveBeenCalled();
  },
);

test.each([[[]], [[['[]']]], [[['{"state":1}']]], [[['claimed']]]])(
  'runs no work when the only rows are %j',
  async (rows) => {
    const database = { exec: () => undefined, prepare: () => ({ run: () => {}, all: () => rows }) };
    const work = vi.fn(async () => {});
    const change = changeAt('2026-01-31T12:00:00Z');
    await expect(outcomeOf(sqliteStore(database), change, work)).rejects.toMatchObject({
      code: 'STORE_FAILED',
    });
    expect(work).not.toHaveBeenCalled();
  },
);
