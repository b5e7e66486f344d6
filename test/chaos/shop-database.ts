import mysql, { type PoolConnection, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { failSometimes, type OrderChange, takeTime } from './merchant-work.js';
import { writeToMysql } from './mysql-merchant.js';
import { writeToPostgres } from './postgres-merchant.js';
import { DECLINED, isRecorded, orderOf, type ShopKind } from './shop-config.js';
import { openSqliteMerchant } from './sqlite-merchant.js';
import { LEASE_MS, LIFETIME_MS, LOCK_TIMEOUT_MS } from './timing.js';
import { findTornOrders, type OrderOrPayment, ordersAndPayments } from './torn-orders.js';

/** The store and the orders in one database, as each process of a shop has them. */
export interface Shop<Tx = unknown> {
  readonly store: PaymentStore<Tx>;
  /** Stores an order where there is none; in the same transaction its payment, or a further one, where that is to be recorded. */
  placeOrder(reference: string): Promise<void>;
  /** Writes what a callback changes, in the store's transaction where it has one. */
  changeOrder(tx: Tx, change: OrderChange): Promise<void>;
  /** The orders that, at one moment, were half recorded or ahead of their payments: what one transaction excludes. */
  findTorn(): Promise<string[]>;
  close(): unknown;
}

export function openShop(kind: ShopKind, url: string, client: PaymentClient): Shop {
  // Each takes the transactions of its own store only.
  return OPEN[kind](url, client) as Shop;
}

const OPEN = { postgres: openOnPostgres, mysql: openOnMysql, sqlite: openOnSqlite };

const ignore = (): void => {};

const OPTIONS = {
  declined: [DECLINED],
  leaseMs: LEASE_MS,
  requestLifetimeMs: LIFETIME_MS,
};

const TIMEOUTS = { lockTimeoutMs: LOCK_TIMEOUT_MS, acquireTimeoutMs: 2_000 };

function openOnPostgres(url: string, client: PaymentClient): Shop<pg.PoolClient> {
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  // The server also ends idle connections.
  pool.on('error', ignore);
  const store = postgresStore(pool, { client, ...OPTIONS, ...TIMEOUTS });
  return {
    store,
    async placeOrder(reference) {
      const tx = await pool.connect();
      // Without it, a connection that breaks here would end the process: the pool listens to idle ones.
      tx.on('error', ignore);
      try {
        await tx.query('BEGIN');
        if (isRecorded(reference)) await store.record(orderOf(reference), { tx });
        await tx.query(`INSERT INTO orders VALUES ($1, 'created') ON CONFLICT DO NOTHING`, [
          reference,
        ]);
        await takeTime(reference);
        await tx.query('COMMIT');
      } catch (error) {
        await tx.query('ROLLBACK').catch(ignore);
        throw error;
      } finally {
        tx.off('error', ignore);
        tx.release();
      }
    },
    changeOrder: writeToPostgres,
    async findTorn() {
      const text = ordersAndPayments(`payment::json ->> 'status'`);
      return findTornOrders((await pool.query<OrderOrPayment>(text)).rows);
    },
    close: () => pool.end(),
  };
}

function openOnMysql(url: string, client: PaymentClient): Shop<PoolConnection> {
  const pool = mysql.createPool({ uri: url, connectionLimit: 5 });
  const store = mysqlStore(pool, { client, ...OPTIONS, ...TIMEOUTS });
  return {
    store,
    async placeOrder(reference) {
      const tx = await pool.getConnection();
      tx.on('error', ignore);
      try {
        await tx.beginTransaction();
        if (isRecorded(reference)) await store.record(orderOf(reference), { tx });
        await tx.query(`INSERT IGNORE INTO orders VALUES (?, 'created')`, [reference]);
        await takeTime(reference);
        await tx.commit();
      } catch (error) {
        await tx.rollback().catch(() => tx.destroy());
        throw error;
      } finally {
        tx.off('error', ignore);
        tx.release();
      }
    },
    changeOrder: writeToMysql,
    async findTorn() {
      const text = ordersAndPayments(`json_unquote(json_extract(payment, '$.status'))`);
      return findTornOrders((await pool.query<(OrderOrPayment & RowDataPacket)[]>(text))[0]);
    },
    close: () => pool.end(),
  };
}

function openOnSqlite(url: string, client: PaymentClient): Shop<undefined> {
  const { database, write } = openSqliteMerchant(url);
  const store = sqliteStore(database, { client, ...OPTIONS });
  const insertOrder = database.prepare(
    `INSERT OR IGNORE INTO orders (reference, status) VALUES (?, 'created')`,
  );
  const place = database.transaction((reference: string) => {
    if (isRecorded(reference)) store.record(orderOf(reference), { sync: true });
    insertOrder.run(reference);
    failSometimes(0.05);
  });
  return {
    store,
    placeOrder: async (reference) => place.immediate(reference),
    changeOrder: (_, change) => write(change),
    async findTorn() {
      const text = ordersAndPayments(`json_extract(payment, '$.status')`);
      return findTornOrders(database.prepare(text).all() as OrderOrPayment[]);
    },
    close: () => database.close(),
  };
}
