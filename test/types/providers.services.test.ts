import type { ExtractTablesWithRelations } from 'drizzle-orm';
import { drizzle, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgTransaction } from 'drizzle-orm/pg-core';
import makeKnex, { type Knex } from 'knex';
import { type ControlledTransaction, Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import postgres, { type TransactionSql } from 'postgres';
import { DataSource, type EntityManager } from 'typeorm';
import { expect, expectTypeOf, it } from 'vitest';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPostgresJs,
  fromTypeOrm,
  postgresStore,
} from '../../src/postgres/index.js';
import type { CallbackStore } from '../../src/store/index.js';
import { unusedClient } from '../store/unused-client.js';

type TxOf<Store> = Store extends CallbackStore<infer Tx> ? Tx : never;
const pool = new pg.Pool();

it('the tx of a store on Drizzle is its transaction', () => {
  const store = postgresStore(fromDrizzle(drizzle(pool)));
  type NoTables = Record<string, never>;
  expectTypeOf<TxOf<typeof store>>().toEqualTypeOf<
    PgTransaction<NodePgQueryResultHKT, NoTables, ExtractTablesWithRelations<NoTables>>
  >();
  // @ts-expect-error a pool is not Drizzle
  expect(() => fromDrizzle(pool)).toThrow('db must be a Drizzle database');
});

it('the tx of a store on Kysely is its transaction, with savepoints', () => {
  interface Tables {
    orders: { reference: string };
  }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const store = postgresStore(fromKysely(db));
  expectTypeOf<TxOf<typeof store>>().toEqualTypeOf<ControlledTransaction<Tables, []>>();
  const payments = postgresStore(fromKysely(db), { client: unusedClient });
  const order = { merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR' };
  const recorders = [
    (tx: Transaction<Tables>) => payments.record(order, { tx }),
    (tx: ControlledTransaction<Tables>) => payments.record(order, { tx }),
    // @ts-expect-error a Kysely is no transaction
    (tx: Kysely<Tables>) => payments.record(order, { tx }),
  ];
  expect(recorders).toHaveLength(3);
  // @ts-expect-error Drizzle is not Kysely
  expect(() => fromKysely(drizzle(pool))).toThrow('db must be a Kysely instance');
});

it('the tx of a store on knex is its transaction', () => {
  const store = postgresStore(fromKnex(makeKnex({ client: 'pg' })));
  expectTypeOf<TxOf<typeof store>>().toEqualTypeOf<Knex.Transaction>();
});

it('the tx of a store on TypeORM is an EntityManager', () => {
  const store = postgresStore(fromTypeOrm(new DataSource({ type: 'postgres' })));
  expectTypeOf<TxOf<typeof store>>().toEqualTypeOf<EntityManager>();
});

it('the tx of a store on postgres.js is its transaction', () => {
  const store = postgresStore(fromPostgresJs(postgres()));
  expectTypeOf<TxOf<typeof store>>().toEqualTypeOf<TransactionSql>();
});
