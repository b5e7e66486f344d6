import { fork } from 'node:child_process';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { cpuClock, measureRatio, wallClock } from './paired-batches.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';

const IN_FLIGHT = 16;
const PREFIX = 'mp_bench_';
const databaseUrl =
  process.env.DATABASE_URL ?? `postgres://${userInfo().username}@127.0.0.1:5432/test`;

/** What a merchant would write by hand, on a separate table: the same promise but for the order. */
const BY_HAND = {
  insert: 'INSERT INTO mp_bench_seen (key) VALUES ($1) ON CONFLICT DO NOTHING',
  // The work of both: one order's status.
  update: 'UPDATE mp_bench_orders SET status = $1 WHERE id = $2',
};

const ORDERS = 10_000;

async function createTables(pool) {
  await pool.query(`DROP TABLE IF EXISTS mp_bench_seen, mp_bench_orders, ${PREFIX}payments, ${PREFIX}events, ${PREFIX}failures;
    CREATE TABLE mp_bench_seen (key text PRIMARY KEY);
    CREATE TABLE mp_bench_orders (id int PRIMARY KEY, status text);
    INSERT INTO mp_bench_orders SELECT n, 'new' FROM generate_series(0, ${ORDERS - 1}) n`);
}

function dropFunctions(pool) {
  return pool.query(`DROP FUNCTION IF EXISTS ${PREFIX}claim_v1, ${PREFIX}record_v1`);
}

async function dropTables(pool) {
  await dropFunctions(pool);
  await pool.query(
    `DROP TABLE IF EXISTS mp_bench_seen, mp_bench_orders, ${PREFIX}payments, ${PREFIX}events, ${PREFIX}failures`,
  );
}

async function byHand(pool, key, order) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rowCount } = await client.query(BY_HAND.insert, [key]);
    if (rowCount === 1) await client.query(BY_HAND.update, ['paid', order]);
    await client.query(rowCount === 1 ? 'COMMIT' : 'ROLLBACK');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** A function that makes so many calls, sixteen at a time. */
function inFlight(call) {
  return async (calls) => {
    let left = calls;
    const worker = async () => {
      while (left-- > 0) await call();
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  };
}

/** Starts the proxy, and gives the URL by which the server is a millisecond away. */
async function startDelay(url) {
  const proxy = fork(fileURLToPath(new URL('./delaying-proxy.mjs', import.meta.url)), [url]);
  const [port] = await once(proxy, 'message');
  const delayed = new URL(url);
  delayed.hostname = '127.0.0.1';
  delayed.port = String(port);
  return { url: delayed.href, stop: () => proxy.disconnect() };
}

/** The cost of a callback by the inbox, divided by that of one by hand, both on one pool. */
async function measure(url, subjectName, clockName) {
  const { default: pg } = await import('pg');
  const { postgresInbox } = await import('../dist/inbox/postgres/index.js');
  const pool = new pg.Pool({ connectionString: url, max: IN_FLIGHT });
  const inbox = postgresInbox(pool, { prefix: PREFIX });
  await createTables(pool);
  await inbox.setup();
  if (subjectName === 'without functions') await dropFunctions(pool);
  let count = 0;
  const nextKey = () => {
    count += 1;
    return subjectName === 'duplicates' ? `PAY-${count % 100}` : `PAY-${count}`;
  };
  const occurredAt = new Date();
  const subject = inFlight(() => {
    const paymentReference = nextKey();
    const event = { key: `${paymentReference}.paid`, paymentReference, occurredAt };
    const order = count % ORDERS;
    return inbox.process({ ...event, processStale: true }, ({ tx }) =>
      tx.query(BY_HAND.update, ['paid', order]),
    );
  });
  const floor = inFlight(() => byHand(pool, `${nextKey()}.paid`, count % ORDERS));
  const clock = clockName === 'CPU' ? cpuClock : wallClock;
  const ratio = await measureRatio({ floor, subject, clock, batchMs: 300, pairs: 25 });
  await dropTables(pool);
  await pool.end();
  return ratio;
}

async function isThere() {
  try {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2000 });
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/** The Postgres inbox, as a ratio to the transaction that a merchant would write by hand. */
export async function measurePostgres() {
  const title = `postgres: a callback by postgresInbox, ${IN_FLIGHT} in flight, ratio to BEGIN, INSERT … ON CONFLICT DO NOTHING, UPDATE, COMMIT on the same pool`;
  if (!(await isThere())) {
    return { title, rows: [{ subject: 'skipped: no Postgres at DATABASE_URL', figure: '' }] };
  }
  const measureAt = (url, ...args) => measureInOwnProcess(import.meta.url, url, ...args);
  const ratio = (...args) => measureAt(databaseUrl, ...args);
  const delay = await startDelay(databaseUrl);
  const rows = [
    atMost('a new change, wall clock', await ratio('new', 'wall clock'), 1.35),
    atMost('a new change, CPU of the process', await ratio('new', 'CPU'), 1.35),
    atMost('a duplicate, wall clock', await ratio('duplicates', 'wall clock'), 1.2),
    atMost('a duplicate, CPU of the process', await ratio('duplicates', 'CPU'), 1.2),
    atMost(
      'a new change, the server 1 ms away, wall clock',
      await measureAt(delay.url, 'new', 'wall clock'),
      1,
    ),
    plainRow('a new change, without the functions', await ratio('without functions', 'wall clock')),
  ];
  delay.stop();
  return { title, rows };
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measurePostgres()]);
}
