import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import makeKnex, { type Knex } from 'knex';
import { Kysely, PostgresDialect, sql as rawKysely } from 'kysely';
import type pg from 'pg';
import { type EntityManager, EntitySchema } from 'typeorm';

/** A handle of an ORM on a transaction. */
export interface OrmTransaction {
  /** Writes a row of `orders`. */
  insert(reference: string, status: string): Promise<unknown>;
  /** Fails, as a statement does that Postgres refuses. */
  fail(): Promise<unknown>;
  /** The ORM's own nested transaction: committed, or rolled back when `body` throws. */
  nested(body: (inner: OrmTransaction) => Promise<void>): Promise<void>;
}

/** An ORM, and how it is put on the store's `tx`. */
export interface Orm {
  readonly name: string;
  on(tx: pg.PoolClient): OrmTransaction;
}

const orders = pgTable('orders', { reference: text(), status: text() });

export type Drizzle = Pick<ReturnType<typeof drizzle>, 'insert' | 'execute'> & {
  transaction(body: (inner: Drizzle) => Promise<void>): Promise<void>;
};

export const overDrizzle = (db: Drizzle): OrmTransaction => ({
  insert: (reference, status) => db.insert(orders).values({ reference, status }),
  fail: () => db.execute(sql`SELECT 1/0`),
  nested: (body) => db.transaction((inner) => body(overDrizzle(inner))),
});

export interface Tables {
  orders: { reference: string; status: string };
}

const overKysely = (db: Kysely<Tables>, tx: pg.PoolClient): OrmTransaction => ({
  insert: (reference, status) => db.insertInto('orders').values({ reference, status }).execute(),
  fail: () => rawKysely`SELECT 1/0`.execute(db),
  // Its transactions begin no further ones.
  nested: (body) =>
    db.transaction().execute((inner) => {
      const send = (text: string) => rawKysely.raw(text).execute(inner);
      return body(withSavepoint(overKysely(inner, tx), send));
    }),
});

/** The same, with transactions in it by a savepoint. */
function withSavepoint(
  db: OrmTransaction,
  send: (text: string) => Promise<unknown>,
): OrmTransaction {
  return {
    ...db,
    async nested(body) {
      await send('SAVEPOINT deeper');
      try {
        await body(db);
      } catch (error) {
        await send('ROLLBACK TO SAVEPOINT deeper');
        throw error;
      }
    },
  };
}

const onKysely = (tx: pg.PoolClient): OrmTransaction => {
  const pool = { connect: async () => tx, end: async () => undefined };
  return overKysely(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), tx);
};

const knex = makeKnex({ client: 'pg' });

const overKnex = (db: Knex, tx: pg.PoolClient): OrmTransaction => ({
  insert: async (reference, status) =>
    await db('orders').insert({ reference, status }).connection(tx),
  fail: async () => await db.raw('SELECT 1/0').connection(tx),
  nested: (body) => db.transaction((inner) => body(overKnex(inner, tx)), { connection: tx }),
});

export const order = new EntitySchema<{ reference: string; status: string }>({
  name: 'order',
  tableName: 'orders',
  columns: {
    reference: { type: 'text', primary: true },
    status: { type: 'text', primary: true },
  },
});

export const overTypeOrm = (manager: EntityManager, failing = 'SELECT 1/0'): OrmTransaction => ({
  // Begins its own transaction.
  insert: (reference, status) => manager.save(order, { reference, status }),
  fail: () => manager.query(failing),
  nested: (body) => manager.transaction((inner) => body(overTypeOrm(inner, failing))),
});

const overPg = (tx: pg.PoolClient): OrmTransaction => ({
  insert: (reference, status) =>
    tx.query('INSERT INTO orders VALUES ($1, $2)', [reference, status]),
  fail: () => tx.query('SELECT 1/0'),
  async nested(body) {
    await tx.query('BEGIN');
    try {
      await body(withSavepoint(overPg(tx), (text) => tx.query(text)));
      await tx.query('COMMIT');
    } catch (error) {
      await tx.query('ROLLBACK');
      throw error;
    }
  },
});

/** Those that need no connection to be made. */
export const orms: readonly Orm[] = [
  { name: 'pg', on: overPg },
  { name: 'Drizzle', on: (tx) => overDrizzle(drizzle(tx)) },
  { name: 'Kysely', on: onKysely },
  { name: 'knex', on: (tx) => overKnex(knex, tx) },
];
