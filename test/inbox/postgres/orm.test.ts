import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPglite } from 'drizzle-orm/pglite';
import makeKnex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';

const pool = new pg.Pool();
const typeOrm = new DataSource({ type: 'postgres' });

it.each([
  ['Drizzle', drizzle(pool), 'a Drizzle database (pass its pool: db.$client)'],
  ['Drizzle on PGlite', drizzleOnPglite.mock(), 'db.$client'],
  ['Kysely', new Kysely({ dialect: new PostgresDialect({ pool }) }), 'a Kysely (pass the pool'],
  ['knex', makeKnex({ client: 'pg' }), 'a knex'],
  ['TypeORM', typeOrm, 'dataSource.driver.master'],
  // As 0.3 has it.
  ['an older TypeORM', Object.assign(typeOrm, { connect() {} }), 'dataSource.driver.master'],
  // Their packages are not installed here.
  ['Prisma', { $transaction() {}, $connect() {} }, 'a client of Prisma'],
  ['postgres.js', Object.assign(() => 1, { begin() {}, unsafe() {} }), 'a client of postgres.js'],
])('an inbox refuses %s, and says what to pass', (_, value, received) => {
  expect(() => postgresInbox(value as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option: 'pool',
      message: expect.stringContaining(received),
    }),
  );
});
