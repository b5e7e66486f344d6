import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresSchema, postgresStore } from '../../src/postgres/postgres-store.js';
import { failureOf } from '../store/sql/failure-of.js';

describe('the pool', () => {
  it.each([
    ['a single client', new pg.Client(), 'a single client'],
    // Drizzle, better-sqlite3: they have a transaction of another kind.
    ['an object that has transaction alone', { transaction() {} }, 'an object'],
  ])('can not be %s', (_name, value, received) => {
    const error = failureOf(() => postgresStore(value as never));
    expect(error.option).toBe('database');
    expect(error.message).toContain(`received ${received}`);
  });
});

describe('prefix', () => {
  it('can not have a schema of more than 50 characters', () => {
    const prefix = `${'a'.repeat(51)}.b`;
    expect(failureOf(() => postgresSchema({ prefix })).option).toBe('prefix');
  });

  it.each(['a', '_a1', 'Billing.Store_', 'a'.repeat(40), `${'a'.repeat(50)}.${'b'.repeat(40)}`])(
    'can be %j',
    (prefix) => {
      const quoted = `"${prefix.replace('.', '"."')}changes"`;
      expect(postgresSchema({ prefix })).toContain(`CREATE TABLE IF NOT EXISTS ${quoted} (`);
    },
  );
});
