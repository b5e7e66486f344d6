import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPglite } from 'drizzle-orm/pglite';
import makeKnex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';

const pool = new pg.Pool();
const typeOrm = new DataSource({ type: 'postgres' });

it.each([
  ['Drizzle', drizzle(pool), 'received an ORM. Pass fromDrizzle(db)'],
  ['Drizzle on PGlite', drizzleOnPglite.mock(), 'fromDrizzle(db)'],
  [
    'Kysely',
    new Kysely({ dialect: new PostgresDialect({ pool }) }),
    'received an ORM. Pass fromKysely(db)',
  ],
  ['knex', makeKnex({ client: 'pg' }), 'received an ORM. Pass fromKnex(knex)'],
  ['TypeORM', typeOrm, 'received an ORM. Pass fromTypeOrm(dataSource)'],
  // As 0.3 has it.
  ['an older TypeORM', Object.assign(typeOrm, { connect() {} }), 'fromTypeOrm(dataSource)'],
  // Its package is not installed here.
  ['Prisma', { $transaction() {}, $connect() {} }, 'received an ORM. Pass fromPrisma(prisma)'],
  ['postgres.js', postgres(), 'received an ORM. Pass fromPostgresJs(sql)'],
])('a store refuses %s, and says what to pass', (_, value, received) => {
  expect(() => postgresStore(value as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      option: 'database',
      message: expect.stringContaining(received),
    }),
  );
});
