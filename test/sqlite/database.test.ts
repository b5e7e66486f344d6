import { expect, test, vi } from 'vitest';
import { isLocked } from '../../src/sqlite/database.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { changeAt } from '../store/held-delivery.js';
import { outcomeOf } from '../store/outcome-of.js';

test.each([
  // better-sqlite3 tells by code, node:sqlite by errcode, whose low byte is the kind.
  [{ code: 'SQLITE_BUSY' }, true],
  [{ code: 'SQLITE_BUSY_SNAPSHOT' }, true],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 5 }, true],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 517 }, true],
  [{ code: 'SQLITE_CONSTRAINT' }, false],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 1 }, false],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 1_299 }, false],
  [new Error('database is locked'), false],
  [undefined, false],
])('%j is a lock of another connection: %s', (error, locked) => {
  expect(isLocked(error)).toBe(locked);
});

test.each([undefined, null, { exec: () => undefined }, { prepare: () => undefined }, 'shop.db'])(
  'refuses %j as a database',
  (database) => {
    expect(() => sqliteStore(database as never)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        option: 'database',
        message: expect.stringContaining('DatabaseSync of node:sqlite'),
      }),
    );
  },
);

const unused = { exec: () => undefined, prepare: () => undefined as never };

test.each([
  [{ leaseMs: 99 }, 'leaseMs', 'from 100 to 2147483647; received 99'],
  [{ renewForMs: 0 }, 'renewForMs', 'from 1; received 0'],
  [{ now: 0 }, 'now', 'must be a function that returns epoch milliseconds'],
  [{ prefix: 'a"; DROP TABLE x; --' }, 'prefix', 'ASCII letters'],
  [{ prefix: 'SQLite_x' }, 'prefix', 'or sqlite_'],
  [{ prefix: 'x'.repeat(41) }, 'prefix', '1 to 40'],
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

// Drivers may return this answer by a promise or a callback.
test.each([undefined, Promise.resolve([['{}']]), [1], [{ answer: 1 }]])(
  'runs no work when the rows are %o',
  async (rows) => {
    const database = { exec: () => undefined, prepare: () => ({ run: () => {}, all: () => rows }) };
    const work = vi.fn(async () => {});
    const change = changeAt('2026-01-31T12:00:00Z');
    await expect(outcomeOf(sqliteStore(database), change, work)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'database',
    });
    expect(work).not.toHaveBeenCalled();
  },
);

test.each([[[]], [[['{"state":1}']]], [[['claimed']]]])(
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
