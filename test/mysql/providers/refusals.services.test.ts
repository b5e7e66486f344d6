import { drizzle } from 'drizzle-orm/mysql2';
import makeKnex from 'knex';
import { Kysely, MysqlDialect } from 'kysely';
import { createPool } from 'mysql2';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { fromDrizzle, mysqlStore } from '../../../src/mysql/index.js';

// None connects before it is used.
const pool = createPool('mysql://u:secret@127.0.0.1:1/db');
const methods = (...names: string[]) => Object.fromEntries(names.map((name) => [name, () => {}]));

describe('a store in MySQL', () => {
  it.each([
    ['a Drizzle database', drizzle(pool), 'fromDrizzle(db)'],
    ['a Kysely instance', new Kysely({ dialect: new MysqlDialect({ pool }) }), 'fromKysely(db)'],
    ['a knex instance', makeKnex({ client: 'mysql2' }), 'fromKnex(knex)'],
    ['a DataSource of TypeORM', new DataSource({ type: 'mysql' }), 'fromTypeOrm(dataSource)'],
  ])('says what to pass in place of %s', (_name, value, by) => {
    expect(() => mysqlStore(value as never)).toThrow(`received an ORM. Pass ${by}`);
  });

  it('takes no Drizzle on a single connection, where two callbacks would be in one transaction', () => {
    const connection = methods('beginTransaction', 'query');
    expect(() => fromDrizzle(drizzle({ client: connection as never }))).toThrow(
      'one on a single connection; make it on a pool',
    );
  });
});
