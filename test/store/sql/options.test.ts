import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { mysqlSchema, mysqlStore } from '../../../src/mysql/mysql-store.js';
import { postgresSchema, postgresStore } from '../../../src/postgres/postgres-store.js';
import { failureOf } from './failure-of.js';

const timeouts = ['lockTimeoutMs', 'acquireTimeoutMs', 'commandTimeoutMs', 'transactionTimeoutMs'];
const notNames = ['', '1st', 'a b', 'a"b', 'a`b', 'a.b.c', '.a', 'a.', 'ä', 'a\n'];

interface Engine {
  readonly engine: string;
  open(options?: object): unknown;
  openOn(pool: unknown): unknown;
  schema(options?: object): string;
  /** The longest name that the engine takes. */
  readonly longest: number;
  /** What the schema has with the prefix `billing.mp_`. */
  readonly prefixed: readonly string[];
}

// Their pools connect only when they are used.
const engines: readonly Engine[] = [
  {
    engine: 'postgres',
    open: (options) => postgresStore(new pg.Pool(), options as never),
    openOn: (pool) => postgresStore(pool as never),
    schema: postgresSchema,
    longest: 63,
    prefixed: [
      'CREATE TABLE IF NOT EXISTS "billing"."mp_failed_changes" (',
      'CREATE INDEX IF NOT EXISTS "mp_changes_processed" ON "billing"."mp_changes"',
    ],
  },
  {
    engine: 'mysql',
    open: (options) => mysqlStore(mysql.createPool('mysql://127.0.0.1:1/db'), options as never),
    openOn: (pool) => mysqlStore(pool as never),
    schema: (options) => `${mysqlSchema(options).join(';\n\n')};\n`,
    longest: 64,
    prefixed: ['CREATE TABLE IF NOT EXISTS `billing`.`mp_failed_changes` ('],
  },
];

describe.each(engines)(
  'a store in $engine',
  ({ engine, open, openOn, schema, longest, prefixed }) => {
    it.each([
      ['nothing', undefined, 'nothing'],
      [
        'a connection string',
        `${engine}://u:secret@host/db`,
        `a string of ${engine.length + 19} characters`,
      ],
      ['an object without connections', {}, 'an object'],
    ])('refuses %s instead of a pool', (_name, value, received) => {
      const error = failureOf(() => openOn(value));
      expect(error.option).toBe('database');
      expect(error.message).toContain(`received ${received}`);
      expect(error.message).not.toContain('secret');
    });

    describe.each(timeouts)('has %s, which', (option) => {
      it.each([0, 1.5, 2_147_483_648, '5'])('can not be %s', (value) => {
        const error = failureOf(() => open({ [option]: value }));
        expect(error.option).toBe(option);
        expect(error.message).toContain('whole number of milliseconds from 1 to 2147483647');
      });

      it('can be the longest that a timer takes', () => {
        expect(() => open({ [option]: 2_147_483_647 })).not.toThrow();
      });
    });

    it.each([...notNames, 'a'.repeat(41), 7, null])('refuses the prefix %j', (prefix) => {
      const error = failureOf(() => open({ prefix }));
      expect(error.option).toBe('prefix');
      expect(error.message).toContain(
        'prefix must be 1 to 40 ASCII letters, digits and underscores',
      );
      expect(failureOf(() => schema({ prefix })).message).toBe(error.message);
    });

    it('refuses an option that is not known', () => {
      const error = failureOf(() => open({ lockTimeout: 5 }));
      expect(error.message).toBe('lockTimeout is not a known option; use lockTimeoutMs');
      const ofSchema = failureOf(() => schema({ prefixes: 'a' }));
      expect(ofSchema.message).toBe('prefixes is not a known option; use prefix');
    });

    it('refuses options that are no object', () => {
      const error = failureOf(() => open(null as never));
      expect(error.option).toBe('options');
      expect(error.message).toContain(`prefix, ${timeouts.join(', ')}`);
      const ofSchema = failureOf(() => schema('a' as never));
      expect(ofSchema.option).toBe('options');
      expect(ofSchema.message).toContain('an object with prefix');
    });

    it('has a schema that equals schema.sql with the default prefix', () => {
      expect(schema()).toBe(readFileSync(`src/${engine}/schema.sql`, 'utf8'));
    });

    it('has nothing of the default prefix when another is given', () => {
      const sql = schema({ prefix: 'billing.mp_' });
      expect(sql).not.toContain('payment_store');
      for (const part of prefixed) expect(sql).toContain(part);
    });

    it('has no name that is too long', () => {
      const sql = schema({ prefix: 'e'.repeat(40) });
      const names = [...sql.matchAll(/["`](e+[a-z_0-9]*)["`]/g)].map(([, name = '']) => name);
      expect(names).not.toEqual([]);
      for (const name of names) expect(name.length).toBeLessThanOrEqual(longest);
    });
  },
);
