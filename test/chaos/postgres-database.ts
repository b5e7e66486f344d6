import pg from 'pg';
import { postgresSchema } from '../../src/postgres/postgres-store.js';
import { startPgbouncer } from '../services/start-pgbouncer.js';
import { startPostgres } from '../services/start-postgres.js';
import type { Database } from './database.js';
import type { Effect } from './history.js';

// No constraint that could hide what the store lets through.
const MERCHANT_TABLES = `
CREATE TABLE effects (id bigserial PRIMARY KEY, key text, reference text, order_reference text,
  status text, is_current boolean, is_second boolean, began_at_ms bigint, done_at_ms bigint);
CREATE TABLE orders (reference text PRIMARY KEY, status text)`;

export async function startPostgresDatabase(): Promise<Database> {
  const server = await startPostgres();
  const query = async <Row>(text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  };
  await query(`${postgresSchema()}${MERCHANT_TABLES}`);
  const bouncer = process.env['CHAOS_PGBOUNCER'] ? await startPgbouncer(server.url, 20) : undefined;
  return {
    url: (bouncer ?? server).url,
    guarantee: 'exactly-once',
    isReadableWhileDown: false,
    async cutConnections() {
      await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`);
    },
    crash: server.kill,
    restart: server.restart,
    // The store lets one change of a payment in at a time, so that their numbers tell the order.
    readEffects: () =>
      query<Effect>(`SELECT key, reference, order_reference AS "order", status, is_current AS "isCurrent", is_second AS "isSecond",
  began_at_ms::float8 AS "beganAtMs", coalesce(done_at_ms::float8, 'Infinity') AS "doneAtMs" FROM effects ORDER BY id`),
    async readOrders() {
      const rows = await query<{ reference: string; status: string }>('SELECT * FROM orders');
      return new Map(rows.map(({ reference, status }) => [reference, status]));
    },
    async stop() {
      await bouncer?.stop();
      await server.stop();
    },
  };
}
