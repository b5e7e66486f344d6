import { startDelay } from './delay.mjs';
import { IN_FLIGHT, inFlight } from './in-flight.mjs';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { cpuClock, measureRatio, wallClock } from './paired-batches.mjs';
import { databaseUrl, hasPostgres } from './postgres-server.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';

const PREFIX = 'mp_bench_';

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

/** A callback by the inbox, and one by hand, both on one pool. The tables are made unless they are there. */
export async function openSides(url, { connections, keyOf, isReady = false }) {
  const { default: pg } = await import('pg');
  const { postgresInbox } = await import('../dist/inbox/postgres/index.js');
  const pool = new pg.Pool({ connectionString: url, max: connections });
  const inbox = postgresInbox(pool, { prefix: PREFIX });
  if (!isReady) {
    await createTables(pool);
    await inbox.setup();
  }
  let count = 0;
  const nextKey = () => {
    count += 1;
    return keyOf(count);
  };
  const occurredAt = new Date();
  return {
    query: (statement) => pool.query(statement),
    dropFunctions: () => dropFunctions(pool),
    subject: () => {
      const paymentReference = nextKey();
      const event = { key: `${paymentReference}.paid`, paymentReference, occurredAt };
      const order = count % ORDERS;
      return inbox.process({ ...event, processStale: true }, ({ tx }) =>
        tx.query(BY_HAND.update, ['paid', order]),
      );
    },
    floor: () => byHand(pool, `${nextKey()}.paid`, count % ORDERS),
    drop: () => dropTables(pool),
    close: () => pool.end(),
  };
}

/** The cost of a callback by the inbox, divided by that of one by hand. */
async function measure(url, subjectName, clockName) {
  const keyOf = (count) => `PAY-${subjectName === 'duplicates' ? count % 100 : count}`;
  const sides = await openSides(url, { connections: IN_FLIGHT, keyOf });
  if (subjectName === 'without functions') await sides.dropFunctions();
  const [subject, floor] = [inFlight(sides.subject), inFlight(sides.floor)];
  const clock = clockName === 'CPU' ? cpuClock : wallClock;
  const ratio = await measureRatio({ floor, subject, clock, batchMs: 300, pairs: 25 });
  await sides.drop();
  await sides.close();
  return ratio;
}

/** The Postgres inbox, as a ratio to the transaction that a merchant would write by hand. */
export async function measurePostgres() {
  const title = `postgres: a callback by postgresInbox, ${IN_FLIGHT} in flight, ratio to BEGIN, INSERT … ON CONFLICT DO NOTHING, UPDATE, COMMIT on the same pool`;
  if (!(await hasPostgres())) {
    return { title, rows: [{ subject: 'skipped: no Postgres at DATABASE_URL', figure: '' }] };
  }
  const measureAt = (url, ...args) => measureInOwnProcess(import.meta.url, url, ...args);
  const ratio = (...args) => measureAt(databaseUrl, ...args);
  const delay = await startDelay(databaseUrl, 1);
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
