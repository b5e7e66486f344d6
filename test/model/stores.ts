import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql, { type Pool as MysqlPool } from 'mysql2/promise';
import pg from 'pg';
import { mysqlStore } from '../../src/mysql/index.js';
import { postgresStore } from '../../src/postgres/index.js';
import { sqliteStore } from '../../src/sqlite/index.js';
import type { Backend } from '../../src/store/backend.js';
import type { ManagedStore } from '../../src/store/callback-store.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import { SqlBackend } from '../../src/store/sql/sql-backend.js';
import { inDatabase } from '../services/mysql-url.js';
import { drivers } from '../sqlite/open-database.js';
import { MEMORY } from '../store/memory-engine.js';
import type { Row } from './order.js';

/** What can be seen of an order's row. */
export type Seen = { readonly [Field in keyof Row]?: unknown };

/** What can be seen of its changes, by their keys, and by their payments. */
export interface SeenChanges {
  readonly processed?: Record<string, boolean>;
  /** In epoch microseconds. */
  readonly newest?: Record<string, string>;
  /** Whether it is parked. */
  readonly failures: Record<string, boolean>;
}

/** Tables of a real store that one replay after another uses. */
export interface Lane {
  readonly backend: Backend;
  /** Whether {@link look} and {@link lookAtChanges} see all that is stored. */
  readonly hasTables: boolean;
  look(key: string): Promise<Seen>;
  lookAtChanges(key: string): Promise<SeenChanges>;
  /** What {@link look} shows of a row of the model. */
  show(row: Row): Seen;
  /** Hides a payment that was sent from the replays that follow. */
  leave(key: string): Promise<void>;
}

/** A real store. */
export interface ModelStore {
  /** How many replays may run at once. */
  readonly lanes: number;
  open(lane: number): Promise<Lane>;
  close(): Promise<void>;
}

/** The stored form of what the model numbers. */
export const paymentOf = (payment: number): string => `payment-${payment}`;
export const ownerOf = (token: number): string => `claim-${token}`;

/** Sets a store up, and returns its backend, which the store itself keeps private. */
async function setUp(store: ManagedStore<never> | ManagedStore<undefined>): Promise<Backend> {
  const { prototype } = SqlBackend;
  const { setup } = prototype;
  let backend: unknown;
  prototype.setup = function catchBackend() {
    backend = this;
    return setup.call(this);
  };
  const isSetUp = store.setup();
  prototype.setup = setup;
  await isSetUp;
  return backend as Backend;
}

/** Each replay has a memory of its own. */
export function memory(): ModelStore {
  return {
    lanes: 1,
    async open() {
      let backend = new MemoryBackend(MEMORY);
      return {
        get backend() {
          return backend as Backend;
        },
        hasTables: false,
        look: (key) => lookThrough(backend as Backend, key),
        show: showThrough,
        async lookAtChanges() {
          const failed = await backend.listFailed(PAGE, undefined);
          const names = failed.map(({ change: { key, parked } }) => [key, parked] as const);
          return { failures: Object.fromEntries(names) };
        },
        async leave() {
          backend = new MemoryBackend(MEMORY);
        },
      };
    },
    close: async () => undefined,
  };
}

export const LEASE_MS = 1_000_000_000;
const PAGE = { olderThanMs: 0, after: undefined, limit: 10 };

/** What a backend's methods show: not its owner, nor who has paid. */
async function lookThrough(backend: Backend, key: string): Promise<Seen> {
  const stored = await backend.read(key);
  const isUnheard = (await backend.list('unheard', PAGE)).length > 0;
  const seconds = await backend.listSecond(PAGE);
  const listed = [1, 2].map((payment) =>
    seconds.some((second) => second.payment.includes(paymentOf(payment))),
  );
  if (stored === undefined) return { state: undefined, listed };
  const { state, attempts, referenceNumber: reference } = stored;
  const body = stored.body || undefined;
  return { state: isUnheard ? 'unheard' : state, attempts, body, reference, listed };
}

function showThrough({ state, attempts, body, listed, reference }: Row): Seen {
  if (state === 'nothing') return { state: undefined, listed };
  const shown = state === 'elsewhere' ? 'created' : state;
  return { state: shown, attempts, body, reference: shownPayment(reference), listed };
}

const shownPayment = (payment: number) => (payment === 0 ? undefined : paymentOf(payment));

type Query = (sql: string, values: unknown[]) => Promise<Record<string, unknown>[]>;

/** Reads the tables themselves, by a query with `?` for values. */
function tables(prefix: string, query: Query): Omit<Lane, 'backend'> {
  const payments = `${prefix}payments`;
  const isListed = (payment: number) => `(SELECT COUNT(*) FROM ${prefix}second_payments AS second
    WHERE second.merchant_payment_reference = one.merchant_payment_reference
    AND second.reference_number = '${paymentOf(payment)}')`;
  const select = `SELECT state, body, owner, lease_until_ms AS lease, attempts,
      reference_number AS reference, paid_by, ${isListed(1)} AS first, ${isListed(2)} AS other
    FROM ${payments} AS one WHERE merchant_payment_reference = ?`;
  return {
    hasTables: true,
    async look(key) {
      const [row] = await query(select, [key]);
      return {
        state: row?.['state'] ?? 'nothing',
        body: row?.['body'] || undefined,
        owner: row?.['owner'] ?? undefined,
        lease: row?.['lease'] != null,
        attempts: Number(row?.['attempts'] ?? 0),
        reference: row?.['reference'] ?? undefined,
        paidBy: row?.['paid_by'] ?? undefined,
        listed: [Number(row?.['first'] ?? 0) > 0, Number(row?.['other'] ?? 0) > 0],
      };
    },
    async lookAtChanges(key) {
      const of = 'WHERE merchant_payment_reference = ? ORDER BY 1';
      const changes = `${prefix}changes ${of}`;
      const failed = await query(
        `SELECT change_key AS name, parked FROM ${prefix}failed_changes ${of}`,
        [key],
      );
      const processed = await query(
        `SELECT change_key AS name, reference_number AS payment, latest_rank AS latest FROM ${changes}`,
        [key],
      );
      const newest: Record<string, string> = {};
      for (const { payment, latest } of processed) {
        const [name, us] = [String(payment), String(latest)];
        if (BigInt(newest[name] ?? 0) < BigInt(us)) newest[name] = us;
      }
      return {
        processed: Object.fromEntries(processed.map(({ name }) => [name, true])),
        newest,
        failures: Object.fromEntries(
          failed.map(({ name, parked }) => [name, Number(parked) === 1]),
        ),
      };
    },
    show: ({ owner, lease, reference, paidBy, ...row }) => ({
      ...row,
      owner: owner === 0 ? undefined : ownerOf(owner),
      lease: lease !== 0,
      reference: shownPayment(reference),
      paidBy: shownPayment(paidBy),
    }),
    async leave(key) {
      const isLeft = `merchant_payment_reference = ? AND state IN ('sending', 'unresolved')`;
      await query(`UPDATE ${payments} SET state = 'rejected' WHERE ${isLeft}`, [key]);
    },
  };
}

const prefixOf = (lane: number) => `lane${lane}_`;

/** In a schema of its own. Nothing here depends on what a crash of the server would lose. */
export async function postgres(url: string, lanes: number): Promise<ModelStore> {
  const schema = `model_${process.pid}`;
  const admin = new pg.Client(url);
  await admin.connect();
  await admin.query(`CREATE SCHEMA ${schema}`);
  const options = `-c search_path=${schema} -c synchronous_commit=off`;
  const pool = new pg.Pool({ connectionString: url, max: 2 * lanes, options });
  return {
    lanes,
    async open(lane) {
      const prefix = prefixOf(lane);
      const store = postgresStore(pool, { prefix });
      const backend = await setUp(store as ManagedStore<never>);
      const query: Query = async (sql, values) =>
        (
          await pool.query({
            name: sql.slice(0, 40) + prefix,
            text: sql.replace('?', '$1'),
            values,
          })
        ).rows;
      return {
        backend,
        ...tables(prefix, query),
      };
    },
    async close() {
      await pool.end();
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.end();
    },
  };
}

/** In a database of its own. */
export async function mariadb(uri: string, lanes: number): Promise<ModelStore> {
  const database = `model_${process.pid}`;
  const admin = mysql.createPool({ uri, connectionLimit: 1 });
  await admin.query(`CREATE DATABASE ${database}`);
  const pool: MysqlPool = mysql.createPool({
    uri: inDatabase(uri, database),
    connectionLimit: 2 * lanes,
  });
  return {
    lanes,
    async open(lane) {
      const prefix = prefixOf(lane);
      const store = mysqlStore(pool, { prefix });
      const backend = await setUp(store as ManagedStore<never>);
      return {
        backend,
        ...tables(
          prefix,
          async (sql, values) => (await pool.query(sql, values))[0] as Record<string, unknown>[],
        ),
      };
    },
    async close() {
      await pool.end();
      await admin.query(`DROP DATABASE ${database}`);
      await admin.end();
    },
  };
}

/** A file. */
export function sqlite(): ModelStore {
  const driver = drivers.find(({ name }) => name === 'better-sqlite3') ?? drivers[0];
  if (driver === undefined) throw new Error('no driver');
  const folder = mkdtempSync(join(tmpdir(), 'model-'));
  const database = driver.open(join(folder, 'shop.db'));
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = OFF');
  const prepared = new Map<string, ReturnType<typeof database.prepare>>();
  const prepare = (sql: string) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  return {
    lanes: 1,
    async open(lane) {
      const prefix = prefixOf(lane);
      const store = sqliteStore(database, { prefix });
      const backend = await setUp(store);
      return {
        backend,
        ...tables(prefix, async (sql, values) => {
          const statement = prepare(sql);
          if (sql.startsWith('SELECT'))
            return statement.all(...values) as Record<string, unknown>[];
          statement.run(...values);
          return [];
        }),
      };
    },
    async close() {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
