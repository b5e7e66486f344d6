import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import makeKnex, { type Knex } from 'knex';
import { type ControlledTransaction, Kysely, PostgresDialect, sql as rawKysely } from 'kysely';
import pg from 'pg';
import postgres, { type TransactionSql } from 'postgres';
import { DataSource, type EntityManager } from 'typeorm';
import { fromDrizzle } from '../../../src/store/providers/drizzle.js';
import { fromKnex } from '../../../src/store/providers/knex.js';
import { fromKysely } from '../../../src/store/providers/kysely.js';
import { fromPostgresJs } from '../../../src/store/providers/postgres-js.js';
import { fromPrisma } from '../../../src/store/providers/prisma.js';
import type { TransactionProvider } from '../../../src/store/providers/provider.js';
import { fromTypeOrm } from '../../../src/store/providers/typeorm.js';
import type { Prisma } from '../../services/prisma/generated/client.js';
import { openPrisma } from '../../services/prisma/open-prisma.js';
import { type OrmTransaction, order, overDrizzle, overTypeOrm, type Tables } from '../orms/orms.js';

/** A provider whose connections are in a schema. */
export interface OpenProvider {
  readonly provider: TransactionProvider<unknown>;
  /** What the ORM does on its own transaction. */
  on(tx: unknown): OrmTransaction;
  /** Runs one statement on a transaction. */
  send(tx: unknown, statement: string): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface ProviderOptions {
  /** How many connections there are. */
  readonly max?: number;
}

type Open = (url: string, schema: string, options?: ProviderOptions) => Promise<OpenProvider>;

const openPool = (url: string, schema: string, { max = 10 }: ProviderOptions = {}): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: schema,
    options: `-c search_path=${schema}`,
    max,
  });
  pool.on('error', () => {});
  // As the guide says: otherwise the loss of a connection ends the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
};

const openPostgresJs = (url: string, schema: string, { max = 10 }: ProviderOptions = {}) =>
  postgres(url, {
    connection: { application_name: schema, search_path: schema },
    onnotice: () => {},
    max,
  });

let savepoints = 0;

type KyselyTransaction = ControlledTransaction<Tables>;

const overKysely = (db: KyselyTransaction): OrmTransaction => ({
  insert: (reference, status) => db.insertInto('orders').values({ reference, status }).execute(),
  fail: () => rawKysely`SELECT 1/0`.execute(db),
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
  fail: async () => await db.raw('SELECT 1/0'),
  nested: (body) => db.transaction((inner) => body(overKnex(inner))),
});

const overPostgresJs = (sql: TransactionSql): OrmTransaction => ({
  insert: async (reference, status) =>
    await sql`INSERT INTO orders VALUES (${reference}, ${status})`,
  fail: async () => await sql`SELECT 1/0`,
  nested: async (body) => void (await sql.savepoint((inner) => body(overPostgresJs(inner)))),
});

/** What Prisma's own client of a transaction is; it begins savepoints where the version can. */
type PrismaTransaction = Prisma.TransactionClient & {
  $transaction?(body: (inner: PrismaTransaction) => Promise<void>): Promise<void>;
};

const overPrisma = (db: PrismaTransaction): OrmTransaction => ({
  insert: (reference, status) => db.orders.create({ data: { reference, status } }),
  fail: () => db.$queryRawUnsafe('SELECT 1/0'),
  nested: async (body) => {
    if (db.$transaction === undefined) throw new Error('Prisma does not nest');
    await db.$transaction((inner) => body(overPrisma(inner)));
  },
});

export const providers: Readonly<Record<string, Open>> = {
  'Drizzle on pg': async (url, schema, options) => {
    const pool = openPool(url, schema, options);
    return {
      provider: fromDrizzle(drizzle(pool)),
      on: (tx) => overDrizzle(tx as NodePgDatabase),
      send: (tx, statement) => (tx as NodePgDatabase).execute(statement),
      close: () => pool.end(),
    };
  },
  'Drizzle on postgres.js': async (url, schema, options) => {
    const sql = openPostgresJs(url, schema, options);
    return {
      provider: fromDrizzle(drizzleOnPostgresJs(sql)),
      on: (tx) => overDrizzle(tx as NodePgDatabase),
      send: (tx, statement) => (tx as NodePgDatabase).execute(statement),
      // Its end() never settles after a connection was lost during a statement.
      close: () => sql.end({ timeout: 0 }),
    };
  },
  Kysely: async (url, schema, options) => {
    const pool = openPool(url, schema, options);
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    return {
      provider: fromKysely(db),
      on: (tx) => overKysely(tx as KyselyTransaction),
      send: (tx, statement) => rawKysely.raw(statement).execute(tx as KyselyTransaction),
      close: () => db.destroy(),
    };
  },
  knex: async (url, schema, { max = 10 } = {}) => {
    const knex = makeKnex({
      client: 'pg',
      connection: { connectionString: url, application_name: schema },
      searchPath: schema,
      pool: { min: 0, max },
    });
    return {
      provider: fromKnex(knex),
      on: (tx) => overKnex(tx as Knex),
      send: async (tx, statement) => await (tx as Knex).raw(statement),
      close: () => knex.destroy(),
    };
  },
  TypeORM: async (url, schema, { max = 10 } = {}) => {
    const dataSource = new DataSource({
      type: 'postgres',
      url,
      entities: [order],
      applicationName: schema,
      extra: { options: `-c search_path=${schema}`, max },
      poolErrorHandler: () => {},
    });
    await dataSource.initialize();
    return {
      provider: fromTypeOrm(dataSource),
      on: (tx) => overTypeOrm(tx as EntityManager),
      send: (tx, statement) => (tx as EntityManager).query(statement),
      close: () => dataSource.destroy(),
    };
  },
  'postgres.js': async (url, schema, options) => {
    const sql = openPostgresJs(url, schema, options);
    return {
      provider: fromPostgresJs(sql),
      on: (tx) => overPostgresJs(tx as TransactionSql),
      send: async (tx, statement) => await (tx as TransactionSql).unsafe(statement),
      // Its end() never settles after a connection was lost during a statement.
      close: () => sql.end({ timeout: 0 }),
    };
  },
  Prisma: async (url, schema, { max = 10 } = {}) => {
    const config = {
      connectionString: url,
      application_name: schema,
      options: `-c search_path=${schema}`,
      max,
    };
    const prisma = await openPrisma(config, schema);
    return {
      provider: fromPrisma(prisma),
      on: (tx) => overPrisma(tx as PrismaTransaction),
      send: (tx, statement) => (tx as PrismaTransaction).$queryRawUnsafe(statement),
      close: () => prisma.$disconnect(),
    };
  },
};
