import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'mp_bench_outbox_';
const BY_HAND = 'mp_bench_intents';
const fromServices = createRequire(new URL('../test/package.json', import.meta.url));

/** What a merchant would write by hand, on a separate table: the payment before it is sent, and what became of it. */
const stores = {
  async postgres(url, connections, client) {
    const { default: pg } = await import('pg');
    const { postgresOutbox } = await import('../dist/outbox/postgres/index.js');
    const pool = new pg.Pool({ connectionString: url, max: connections });
    return {
      outbox: postgresOutbox(pool, { client, prefix: PREFIX }),
      query: (statement, values) => pool.query(statement, values),
      insert: `INSERT INTO ${BY_HAND} (reference, body) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      update: `UPDATE ${BY_HAND} SET state = 'created', reference_number = $1, payment = $2 WHERE reference = $3`,
      close: () => pool.end(),
    };
  },
  async mysql(url, connections, client) {
    const { default: mysql } = await import('mysql2/promise');
    const { mysqlOutbox } = await import('../dist/outbox/mysql/index.js');
    const pool = mysql.createPool({ uri: url, connectionLimit: connections });
    return {
      outbox: mysqlOutbox(pool, { client, prefix: PREFIX }),
      query: (statement, values) => pool.query(statement, values),
      insert: `INSERT IGNORE INTO ${BY_HAND} (reference, body) VALUES (?, ?)`,
      update: `UPDATE ${BY_HAND} SET state = 'created', reference_number = ?, payment = ? WHERE reference = ?`,
      close: () => pool.end(),
    };
  },
  /** In a file of its own; the driver is that of the tests. */
  async sqlite(_url, _connections, client) {
    const { sqliteOutbox } = await import('../dist/outbox/sqlite/index.js');
    const Database = fromServices('better-sqlite3');
    const folder = mkdtempSync(join(tmpdir(), 'bench-outbox-'));
    const database = new Database(join(folder, 'shop.db'));
    database.pragma('journal_mode = WAL');
    // As the outbox sets it.
    database.pragma('synchronous = FULL');
    const prepared = new Map();
    const prepare = (statement) => {
      if (!prepared.has(statement)) prepared.set(statement, database.prepare(statement));
      return prepared.get(statement);
    };
    return {
      outbox: sqliteOutbox(database, { client, prefix: PREFIX }),
      query: (statement, values = []) => prepare(statement).run(...values),
      insert: `INSERT OR IGNORE INTO ${BY_HAND} (reference, body) VALUES (?, ?)`,
      update: `UPDATE ${BY_HAND} SET state = 'created', reference_number = ?, payment = ? WHERE reference = ?`,
      close() {
        database.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

/** Whether the driver of SQLite is installed. */
export function hasSqlite() {
  try {
    fromServices.resolve('better-sqlite3');
    return true;
  } catch {
    return false;
  }
}

/** A payment by the outbox, and one by hand, both on one pool. The tables are made unless they are there. */
export async function openOutboxSides(store, url, { connections, keyOf, isReady, client }) {
  const { outbox, query, insert, update, close } = await stores[store](url, connections, client);
  const drop = async () => {
    for (const table of [BY_HAND, `${PREFIX}payments`, `${PREFIX}second_payments`]) {
      await query(`DROP TABLE IF EXISTS ${table}`);
    }
  };
  if (!isReady) {
    await drop();
    await query(`CREATE TABLE ${BY_HAND} (reference varchar(128) PRIMARY KEY, body text NOT NULL,
      state varchar(16) NOT NULL DEFAULT 'sending', reference_number varchar(128), payment text)`);
    await outbox.setup();
  }
  let count = 0;
  const nextPayment = () => {
    count += 1;
    return { merchantPaymentReference: keyOf(count), amount: 2500, currency: 'EUR' };
  };
  return {
    query,
    subject: () => outbox.create(nextPayment()),
    floor: async () => {
      const input = nextPayment();
      const reference = input.merchantPaymentReference;
      await query(insert, [reference, JSON.stringify(input)]);
      const { payment } = await client.payments.create(input);
      await query(update, [payment.referenceNumber, JSON.stringify(payment), reference]);
    },
    drop,
    close,
  };
}
