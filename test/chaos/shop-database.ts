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
import { isRecorded, orderOf, type ShopKind } from './shop-config.js';
import { openSqliteMerchant } from './sqlite-merchant.js';
import { LEASE_MS, LOCK_TIMEOUT_MS } from './timing.js';

/** The store and the orders in one database, as each process of a shop has them. */
export interface Shop<Tx = unknown> {
  readonly store: PaymentStore<Tx>;
  /** Stores an order where there is none; in the same transaction its payment, where that is to be recorded. */
  placeOrder(reference: string): Promise<void>;
  /** Writes what a callback changes, in the store's transaction where it has one. */
  changeOrder(tx: Tx, change: OrderChange): Promise<void>;
  /** The orders that, at one moment, were half recorded or ahead of their payment: what one transaction excludes. */
  findTorn(): Promise<string[]>;
  close(): unknown;
}

export function openShop(kind: ShopKind, url: string, client: PaymentClient): Shop {
  // Each takes the transactions of its own store only.
  return OPEN[kind](url, client) as Shop;
}

const OPEN = { postgres: openOnPostgres, mysql: openOnMysql, sqlite: openOnSqlite };

const ignore = (): void => {};

const TIMEOUTS = {
  leaseMs: LEASE_MS,
  // No request takes longer to be acted on.
  requestLifetimeMs: LEASE_MS,
  lockTimeoutMs: LOCK_TIMEOUT_MS,
  acquireTimeoutMs: 2_000,
};

// As the lives of payments have them: none goes back.
const STATUSES = ['created', 'authorized', 'captured', 'paid', 'failed', 'settled'];

/** An order beside its payment in the store, at one moment. A null reference: there is none. */
interface OrderAndPayment {
  readonly order: string | null;
  readonly status: string | null;
  readonly payment: string | null;
  /** Null until a callback of it was received. */
  readonly paymentStatus: string | null;
}

/**
 * An order may be behind its payment, which is settled although the work failed; it is never ahead of it.
 */
function isTorn({ order, status, payment, paymentStatus }: OrderAndPayment): boolean {
  if (order === null) return true;
  if (payment === null && isRecorded(order)) return true;
  return STATUSES.indexOf(status ?? '') > STATUSES.indexOf(paymentStatus ?? 'created');
}

function referencesOfTorn(rows: readonly OrderAndPayment[]): string[] {
  return rows.filter(isTorn).map(({ order, payment }) => order ?? payment ?? '');
}

const COLUMNS = 'o.reference AS "order", o.status, p.merchant_payment_reference AS payment';
const ORDERS_AND_PAYMENTS = (
  paymentStatus: string,
) => `SELECT ${COLUMNS}, ${paymentStatus} AS "paymentStatus"
FROM orders o FULL JOIN payment_store_payments p ON p.merchant_payment_reference = o.reference`;

function openOnPostgres(url: string, client: PaymentClient): Shop<pg.PoolClient> {
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  // The server also ends idle connections.
  pool.on('error', ignore);
  const store = postgresStore(pool, { client, ...TIMEOUTS });
  return {
    store,
    async placeOrder(reference) {
      const tx = await pool.connect();
      // Without it, a connection that breaks here would end the process: the pool listens to idle ones.
      tx.on('error', ignore);
      try {
        await tx.query('BEGIN');
        await tx.query(`INSERT INTO orders VALUES ($1, 'created') ON CONFLICT DO NOTHING`, [
          reference,
        ]);
        if (isRecorded(reference)) await store.record(orderOf(reference), { tx });
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
      const text = ORDERS_AND_PAYMENTS(`p.payment::json ->> 'status'`);
      return referencesOfTorn((await pool.query<OrderAndPayment>(text)).rows);
    },
    close: () => pool.end(),
  };
}

// It has no FULL JOIN.
const MYSQL_COLUMNS = `o.reference AS \`order\`, o.status, p.merchant_payment_reference AS payment,
  json_unquote(json_extract(p.payment, '$.status')) AS paymentStatus`;
const ORDERS_AND_PAYMENTS_IN_MYSQL = `SELECT ${MYSQL_COLUMNS}
FROM orders o LEFT JOIN payment_store_payments p ON p.merchant_payment_reference = o.reference
UNION ALL SELECT ${MYSQL_COLUMNS}
FROM payment_store_payments p LEFT JOIN orders o ON o.reference = p.merchant_payment_reference
WHERE o.reference IS NULL`;

function openOnMysql(url: string, client: PaymentClient): Shop<PoolConnection> {
  const pool = mysql.createPool({ uri: url, connectionLimit: 5 });
  const store = mysqlStore(pool, { client, ...TIMEOUTS });
  return {
    store,
    async placeOrder(reference) {
      const tx = await pool.getConnection();
      tx.on('error', ignore);
      try {
        await tx.beginTransaction();
        await tx.query(`INSERT IGNORE INTO orders VALUES (?, 'created')`, [reference]);
        if (isRecorded(reference)) await store.record(orderOf(reference), { tx });
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
      const [rows] = await pool.query<(OrderAndPayment & RowDataPacket)[]>(
        ORDERS_AND_PAYMENTS_IN_MYSQL,
      );
      return referencesOfTorn(rows);
    },
    close: () => pool.end(),
  };
}

function openOnSqlite(url: string, client: PaymentClient): Shop<undefined> {
  const { database, write } = openSqliteMerchant(url);
  const store = sqliteStore(database, {
    client,
    leaseMs: LEASE_MS,
    requestLifetimeMs: LEASE_MS,
  });
  const insertOrder = database.prepare(
    `INSERT OR IGNORE INTO orders (reference, status) VALUES (?, 'created')`,
  );
  const place = database.transaction((reference: string) => {
    insertOrder.run(reference);
    if (isRecorded(reference)) store.record(orderOf(reference), { sync: true });
    failSometimes(0.05);
  });
  return {
    store,
    placeOrder: async (reference) => place.immediate(reference),
    changeOrder: (_, change) => write(change),
    async findTorn() {
      const text = ORDERS_AND_PAYMENTS(`json_extract(p.payment, '$.status')`);
      return referencesOfTorn(database.prepare(text).all() as OrderAndPayment[]);
    },
    close: () => database.close(),
  };
}
