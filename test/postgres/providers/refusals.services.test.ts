import { drizzle } from 'drizzle-orm/node-postgres';
import makeKnex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
  postgresStore,
  type TransactionProvider,
} from '../../../src/postgres/index.js';

const pool = new pg.Pool();
const kysely = new Kysely({ dialect: new PostgresDialect({ pool }) });
const makers: Record<string, (value: never) => TransactionProvider<unknown>> = {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
};
const given: Record<string, unknown> = {
  nothing: undefined,
  'a pool': pool,
  'a text': 'postgres://user:secret@host/db',
  'a Drizzle': drizzle(pool),
  'a Kysely instance': kysely,
  'a knex instance': makeKnex({ client: 'pg' }),
  'a postgres.js': postgres(),
  'a DataSource': new DataSource({ type: 'postgres' }),
};
const right: Record<string, string> = {
  fromDrizzle: 'a Drizzle',
  fromKnex: 'a knex instance',
  fromKysely: 'a Kysely instance',
  fromPostgresJs: 'a postgres.js',
  fromPrisma: 'a PrismaClient',
  fromTypeOrm: 'a DataSource',
};

describe.each(Object.entries(makers))('%s', (by, make) => {
  it.each(Object.entries(given))('refuses all but its own: %s', (name, value) => {
    const call = () => make(value as never);
    if (name === right[by]) expect(() => postgresStore(call())).not.toThrow();
    else expect(call).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    if (name === 'a text') expect(call).not.toThrow('secret');
  });
});

describe('a from… function', () => {
  const methods = (...names: string[]) => Object.fromEntries(names.map((name) => [name, () => {}]));

  it.each([
    [
      'a Drizzle on a single client',
      () => fromDrizzle(drizzle(new pg.Client())),
      'on a single client; make it on a pool',
    ],
    [
      'a transaction of Drizzle',
      () => fromDrizzle(methods('transaction', 'execute', 'select', 'insert', 'rollback') as never),
      'a transaction; pass db itself',
    ],
    [
      'a transaction of postgres.js',
      () => fromPostgresJs(Object.assign(() => {}, methods('savepoint', 'unsafe')) as never),
      'a transaction; pass sql itself',
    ],
    [
      'an older Kysely',
      () => fromKysely(methods('selectFrom', 'transaction', 'connection') as never),
      'db must be a Kysely instance of version 0.28 or later',
    ],
  ])('refuses %s', (_, call, message) => {
    expect(call).toThrow(message);
  });

  it('is not imitated by an object of its form', () => {
    expect(() => postgresStore({ ...fromDrizzle(drizzle(pool)) })).toThrow('received an object');
  });
});
