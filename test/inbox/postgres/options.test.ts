import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/errors.js';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { postgresInboxSchema } from '../../../src/inbox/postgres/schema.js';

const pool = new pg.Pool();

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
    ['a single client', new pg.Client(), 'a single client'],
    ['nothing', undefined, 'nothing'],
    ['null', null, 'null'],
    ['a connection string', 'postgres://u:secret@host/db', 'a string of 27 characters'],
    ['an object without connect', {}, 'an object'],
    // Drizzle, better-sqlite3: they have a transaction of another kind.
    ['an object that has transaction alone', { transaction() {} }, 'an object'],
  ])('can not be %s', (_name, value, received) => {
    const error = failureOf(() => postgresInbox(value as never));
    expect(error.option).toBe('pool');
    expect(error.message).toContain(`received ${received}`);
    expect(error.message).not.toContain('secret');
  });
});

describe.each(['lockTimeoutMs', 'acquireTimeoutMs', 'commandTimeoutMs', 'idleTimeoutMs'])(
  '%s',
  (option) => {
    it.each([0, -1, 1.5, Number.NaN, 2_147_483_648, '5'])('can not be %s', (value) => {
      const error = failureOf(() => postgresInbox(pool, { [option]: value }));
      expect(error.option).toBe(option);
      expect(error.message).toContain('whole number of milliseconds from 1 to 2147483647');
    });

    it.each([1, 2_147_483_647, undefined])('can be %s', (value) => {
      expect(() => postgresInbox(pool, { [option]: value })).not.toThrow();
    });
  },
);

describe('prefix', () => {
  it.each([
    '',
    ' ',
    '1st',
    'a b',
    'a-b',
    'a"b',
    "a'b",
    'a;b',
    'a.b.c',
    '.a',
    'a.',
    'ä',
    'a\n',
    'a'.repeat(41),
    `${'a'.repeat(51)}.b`,
    7,
    null,
  ])('can not be %j', (prefix) => {
    const error = failureOf(() => postgresInbox(pool, { prefix } as never));
    expect(error.option).toBe('prefix');
    expect(error.message).toContain('prefix must be 1 to 40 ASCII letters, digits and underscores');
    expect(failureOf(() => postgresInboxSchema({ prefix } as never)).message).toBe(error.message);
  });

  it.each(['a', '_a1', 'Billing.Inbox_', 'a'.repeat(40), `${'a'.repeat(50)}.${'b'.repeat(40)}`])(
    'can be %j',
    (prefix) => {
      const quoted = `"${prefix.replace('.', '"."')}events"`;
      expect(postgresInboxSchema({ prefix })).toContain(`CREATE TABLE IF NOT EXISTS ${quoted} (`);
    },
  );
});

describe('the options', () => {
  it('hold none that is not known', () => {
    const error = failureOf(() => postgresInbox(pool, { lockTimeout: 5 } as never));
    expect(error.message).toBe('lockTimeout is not a known option; use lockTimeoutMs');
    const ofSchema = failureOf(() => postgresInboxSchema({ prefixes: 'a' } as never));
    expect(ofSchema.message).toBe('prefixes is not a known option; use prefix');
  });

  it('are an object', () => {
    const error = failureOf(() => postgresInbox(pool, null as never));
    expect(error.option).toBe('options');
    expect(error.message).toContain(
      'prefix, lockTimeoutMs, acquireTimeoutMs, commandTimeoutMs, transactionTimeoutMs, idleTimeoutMs',
    );
    const ofSchema = failureOf(() => postgresInboxSchema('a' as never));
    expect(ofSchema.option).toBe('options');
    expect(ofSchema.message).toContain('an object with prefix');
  });
});
