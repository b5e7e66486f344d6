import { drizzle } from 'drizzle-orm/mysql2';
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres';
import makeKnex from 'knex';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPrisma,
  fromTypeOrm,
  mysqlStore,
} from '../../../src/mysql/index.js';
import { postgresStore } from '../../../src/postgres/index.js';

// None connects before it is used.
const pool = createPool('mysql://u:secret@127.0.0.1:1/db');
const pgPool = new pg.Pool();
const methods = (...names: string[]) => Object.fromEntries(names.map((name) => [name, () => {}]));
const prismaOn = (_activeProvider: string) =>
  fromPrisma({
    ...methods('$transaction', '$queryRawUnsafe', '$connect'),
    _activeProvider,
  } as never);
const onMysql = {
  Drizzle: () => fromDrizzle(drizzle(pool)),
  Kysely: () => fromKysely(new Kysely({ dialect: new MysqlDialect({ pool }) })),
  knex: () => fromKnex(makeKnex({ client: 'mysql2' })),
  TypeORM: () => fromTypeOrm(new DataSource({ type: 'mariadb' })),
  Prisma: () => prismaOn('mysql'),
};
const onPostgres = {
  Drizzle: () => fromDrizzle(drizzleOnPg(pgPool)),
  Kysely: () => fromKysely(new Kysely({ dialect: new PostgresDialect({ pool: pgPool }) })),
  knex: () => fromKnex(makeKnex({ client: 'pg' })),
  TypeORM: () => fromTypeOrm(new DataSource({ type: 'postgres' })),
  Prisma: () => prismaOn('postgresql'),
};

describe.each(Object.keys(onMysql) as (keyof typeof onMysql)[])('%s', (orm) => {
  it('is taken by the store of its database', () => {
    expect(() => mysqlStore(onMysql[orm]())).not.toThrow();
    expect(() => postgresStore(onPostgres[orm]())).not.toThrow();
  });

  it('is refused by that of another', () => {
    expect(() => mysqlStore(onPostgres[orm]())).toThrow(`received ${orm} on postgres`);
    expect(() => postgresStore(onMysql[orm]())).toThrow(`received ${orm} on mysql`);
  });
});

describe('a store in MySQL', () => {
  it.each([
    ['a Drizzle database', drizzle(pool), 'fromDrizzle(db)'],
    ['a Kysely instance', new Kysely({ dialect: new MysqlDialect({ pool }) }), 'fromKysely(db)'],
    ['a knex instance', makeKnex({ client: 'mysql2' }), 'fromKnex(knex)'],
    ['a DataSource of TypeORM', new DataSource({ type: 'mysql' }), 'fromTypeOrm(dataSource)'],
  ])('says what to pass in place of %s', (name, value, by) => {
    expect(() => mysqlStore(value as never)).toThrow(`received ${name}. Pass ${by}`);
  });

  it('takes no Drizzle on a single connection, where two callbacks would be in one transaction', () => {
    const connection = methods('beginTransaction', 'query');
    expect(() => fromDrizzle(drizzle({ client: connection as never }))).toThrow(
      'one on a single connection; make it on a pool',
    );
  });
});
