import { expect, test, vi } from 'vitest';
import { sqliteInbox, sqliteInboxRules } from '../../../src/sqlite/inbox-sqlite-inbox.js';
import { resolveOptions } from '../../../src/protocol/options.js';
import { assertDatabase, isInTransaction, isLocked } from '../../../src/sqlite/database.js';
import { sampleEvent } from '../sample-event.js';

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
  [{ inTransaction: true }, true],
  [{ isTransaction: true }, true],
  [{ inTransaction: false, isTransaction: false }, false],
  [{}, false],
])('%j is in a transaction: %s', (database, open) => {
  const methods = { exec: () => undefined, prepare: () => undefined as never };
  expect(isInTransaction({ ...methods, ...database })).toBe(open);
});

test.each([
  [
    undefined,
    'is missing; it must be a DatabaseSync of node:sqlite or a Database of better-sqlite3',
  ],
  [{ exec: () => undefined }, 'with exec and prepare; received an object'],
  [{ prepare: () => undefined }, 'with exec and prepare; received an object'],
])('refuses %j as a database', (database, says) => {
  expect(() => assertDatabase(database)).toThrow(
    expect.objectContaining({
      option: 'database',
      message: expect.stringContaining(says),
    }),
  );
});

test.each([
  [{ prefix: ['payments_'] }, 'prefix', 'received an array'],
  [{ prefix: 'sqlite_payments' }, 'prefix', 'or sqlite_'],
  [{ leaseMs: 99 }, 'leaseMs', 'a whole number of milliseconds from 100 to 2147483647'],
  [{ renewForMs: 0 }, 'renewForMs', 'a whole number of milliseconds from 1'],
  [{ tablePrefix: 'shop_' }, 'tablePrefix', 'tablePrefix is not a known option'],
])('refuses the options %j', (options, option, says) => {
  expect(() => resolveOptions(options as object, sqliteInboxRules)).toThrow(
    expect.objectContaining({ option, message: expect.stringContaining(says) }),
  );
});

test('the clock is the one of the process at each call, faked or not', () => {
  const { now } = resolveOptions({}, sqliteInboxRules);
  vi.spyOn(Date, 'now').mockReturnValue(7);
  expect(now()).toBe(7);
});

// Drivers may return this answer by a promise or a callback.
test.each([undefined, null, Promise.resolve({ answer: 'claimed' }), {}, [1], { answer: 'yes' }])(
  'runs no work when the first row is %o',
  async (row) => {
    const database = {
      exec: () => undefined,
      prepare: () => ({ run: () => ({ changes: 1 }), get: () => row, all: () => [] }),
    };
    const work = vi.fn(async () => {});
    await expect(sqliteInbox(database).process(sampleEvent(), work)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'database',
      message:
        'database must answer a query with its first row at once; received something else: use a DatabaseSync of node:sqlite or a Database of better-sqlite3',
    });
    expect(work).not.toHaveBeenCalled();
  },
);
