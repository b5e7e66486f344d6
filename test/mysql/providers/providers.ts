import { mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle, type MySql2Database } from 'drizzle-orm/mysql2';
import makeKnex, { type Knex } from 'knex';
import { type ControlledTransaction, Kysely, MysqlDialect, sql as rawKysely } from 'kysely';
import { createPool } from 'mysql2';
import mysql from 'mysql2/promise';
import { DataSource, type EntityManager } from 'typeorm';
import { fromDrizzle } from '../../../src/store/providers/drizzle.js';
import { fromKnex } from '../../../src/store/providers/knex.js';
import { fromKysely } from '../../../src/store/providers/kysely.js';
import { fromPrisma } from '../../../src/store/providers/prisma.js';
import type { TransactionProvider } from '../../../src/store/providers/provider.js';
import { fromTypeOrm } from '../../../src/store/providers/typeorm.js';
import { type OrmTransaction, order, overTypeOrm, type Tables } from '../../postgres/orms/orms.js';
import type { OpenProvider, ProviderOptions } from '../../postgres/providers/providers.js';
import type { Prisma } from '../../services/prisma/mysql/generated/client.js';
import { openPrisma } from '../../services/prisma/mysql/open-prisma.js';

/** @param url with the database of the tests */
type Open = (url: string, options?: ProviderOptions) => Promise<OpenProvider>;

// Fails in every sql_mode.
const FAILING = 'SELECT * FROM no_such_table';

const orders = mysqlTable('orders', {
  reference: varchar({ length: 200 }),
  status: varchar({ length: 200 }),
});

type Drizzle = Pick<MySql2Database, 'insert' | 'execute'> & {
  transaction(body: (inner: Drizzle) => Promise<void>): Promise<void>;
};

const overDrizzle = (db: Drizzle): OrmTransaction => ({
  insert: (reference, status) => db.insert(orders).values({ reference, status }),
  fail: () => db.execute(FAILING),
  nested: (body) => db.transaction((inner) => body(overDrizzle(inner))),
});

let savepoints = 0;

type KyselyTransaction = ControlledTransaction<Tables>;

const overKysely = (db: KyselyTransaction): OrmTransaction => ({
  insert: (reference, status) => db.insertInto('orders').values({ reference, status }).execute(),
  fail: () => rawKysely.raw(FAILING).execute(db),
  async nested(body) {
    savepoints += 1;
    const name = `nested_${savepoints}`;
    const inner = await db.savepoint(name).execute();
    try {
      await body(overKysely(inner as unknown as KyselyTransaction));
    } catch (error) {
      await inner.rollbackToSavepoint(name as never).execute();
      throw error;
    }
    await inner.releaseSavepoint(name as never).execute();
  },
});

const overKnex = (db: Knex): OrmTransaction => ({
  insert: async (reference, status) => await db('orders').insert({ reference, status }),
  fail: async () => await db.raw(FAILING),
  nested: (body) => db.transaction((inner) => body(overKnex(inner))),
});

/** What Prisma's own client of a transaction is; it begins savepoints where the version can. */
type PrismaTransaction = Prisma.TransactionClient & {
  $transaction?(body: (inner: PrismaTransaction) => Promise<void>): Promise<void>;
};

const overPrisma = (db: PrismaTransaction): OrmTransaction => ({
  insert: (reference, status) => db.orders.createMany({ data: [{ reference, status }] }),
  fail: () => db.$queryRawUnsafe(FAILING),
  nested: async (body) => {
    if (db.$transaction === undefined) throw new Error('Prisma does not nest');
    await db.$transaction((inner) => body(overPrisma(inner)));
  },
});

const usePrisma = async (
  url: string,
  options: ProviderOptions & { useTextProtocol?: boolean },
): Promise<OpenProvider> => {
  const prisma = await openPrisma(url, options);
  const provider: TransactionProvider<unknown> = fromPrisma(prisma);
  return {
    provider,
    on: (tx) => overPrisma(tx as PrismaTransaction),
    send: (tx, statement) => (tx as PrismaTransaction).$queryRawUnsafe(statement),
    close: () => prisma.$disconnect(),
  };
};

export const providers: Readonly<Record<string, Open>> = {
  Drizzle: async (url, { max = 10 } = {}) => {
    const pool = mysql.createPool({ uri: url, connectionLimit: max });
    return {
      provider: fromDrizzle(drizzle(pool)),
      on: (tx) => overDrizzle(tx as Drizzle),
      send: (tx, statement) => (tx as Drizzle).execute(statement),
      close: () => pool.end(),
    };
  },
  Kysely: async (url, { max = 10 } = {}) => {
    const pool = createPool({ uri: url, connectionLimit: max });
    const db = new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) });
    return {
      provider: fromKysely(db),
      on: (tx) => overKysely(tx as KyselyTransaction),
      send: (tx, statement) => rawKysely.raw(statement).execute(tx as KyselyTransaction),
      close: () => db.destroy(),
    };
  },
  knex: async (url, { max = 10 } = {}) => {
    const knex = makeKnex({ client: 'mysql2', connection: url, pool: { min: 0, max } });
    return {
      provider: fromKnex(knex),
      on: (tx) => overKnex(tx as Knex),
      send: async (tx, statement) => await (tx as Knex).raw(statement),
      close: () => knex.destroy(),
    };
  },
  TypeORM: async (url, { max = 10 } = {}) => {
    const dataSource = new DataSource({
      type: 'mysql',
      url,
      entities: [order],
      poolSize: max,
    });
    await dataSource.initialize();
    return {
      provider: fromTypeOrm(dataSource),
      on: (tx) => overTypeOrm(tx as EntityManager, FAILING),
      send: (tx, statement) => (tx as EntityManager).query(statement),
      close: () => dataSource.destroy(),
    };
  },
  Prisma: (url, options) => usePrisma(url, { ...options }),
  // As it is unless its adapter is told otherwise; MariaDB prepares what MySQL does not.
  'Prisma with prepared statements': (url, options) =>
    usePrisma(url, { ...options, useTextProtocol: false }),
};
