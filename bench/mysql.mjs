import { IN_FLIGHT, inFlight } from './in-flight.mjs';
import { hasMysql, mysqlUrl } from './mysql-server.mjs';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { cpuClock, measureRatio, wallClock } from './paired-batches.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';

const PREFIX = 'mp_bench_';
const ORDERS = 10_000;
/** What a merchant would write by hand, on a separate table: the same promise but for the order. */
const BY_HAND = {
  insert: 'INSERT IGNORE INTO mp_bench_seen (name) VALUES (?)',
  // The work of both: one order's status.
  update: 'UPDATE mp_bench_orders SET status = ? WHERE id = ?',
};

async function dropAll(pool) {
  const tables = ['seen', 'orders', 'events', 'locks', 'failures'].map((name) => PREFIX + name);
  await pool.query(`DROP TABLE IF EXISTS ${tables.join(', ')}`);
  await dropProcedures(pool);
}

async function dropProcedures(pool) {
  for (const name of ['claim', 'record']) {
    await pool.query(`DROP PROCEDURE IF EXISTS ${PREFIX}${name}_v1`);
  }
}

async function createTables(pool) {
  await dropAll(pool);
  await pool.query('CREATE TABLE mp_bench_seen (name varchar(128) COLLATE ascii_bin PRIMARY KEY)');
  await pool.query('CREATE TABLE mp_bench_orders (id int PRIMARY KEY, status varchar(20))');
  const rows = Array.from({ length: ORDERS }, (_, id) => [id, 'new']);
  await pool.query('INSERT INTO mp_bench_orders VALUES ?', [rows]);
}

let changes = 0;

/** A status that the order has not, so that the row is written. */
function nextStatus() {
  changes += 1;
  return `paid ${changes}`;
}

async function byHand(pool, key, order) {
  const connection = await pool.getConnection();
  try {
    await connection.query('START TRANSACTION');
    const [{ affectedRows }] = await connection.query(BY_HAND.insert, [key]);
    if (affectedRows === 1) await connection.query(BY_HAND.update, [nextStatus(), order]);
    await connection.query(affectedRows === 1 ? 'COMMIT' : 'ROLLBACK');
  } catch (error) {
    await connection.query('ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
}

/** A callback by the inbox, and one by hand, both on one pool. The tables are made unless they are there. */
export async function openSides(url, { connections, keyOf, isReady = false }) {
  const { default: mysql } = await import('mysql2/promise');
  const { mysqlInbox } = await import('../dist/inbox/mysql/index.js');
  const pool = mysql.createPool({ uri: url, connectionLimit: connections });
  const inbox = mysqlInbox(pool, { prefix: PREFIX });
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
    dropProcedures: () => dropProcedures(pool),
    subject: () => {
      const paymentReference = nextKey();
      const event = { key: `${paymentReference}.paid`, paymentReference, occurredAt };
      const order = count % ORDERS;
      return inbox.process({ ...event, processStale: true }, ({ tx }) =>
        tx.query(BY_HAND.update, [nextStatus(), order]),
      );
    },
    floor: () => byHand(pool, `${nextKey()}.paid`, count % ORDERS),
    drop: () => dropAll(pool),
    close: () => pool.end(),
  };
}

/** The cost of a callback by the inbox, divided by that of one by hand. */
async function measure(url, subjectName, clockName) {
  const keyOf = (count) => `PAY-${subjectName === 'duplicates' ? count % 100 : count}`;
  const sides = await openSides(url, { connections: IN_FLIGHT, keyOf });
  if (subjectName === 'without procedures') await sides.dropProcedures();
  const [subject, floor] = [inFlight(sides.subject), inFlight(sides.floor)];
  const clock = clockName === 'CPU' ? cpuClock : wallClock;
  const ratio = await measureRatio({ floor, subject, clock, batchMs: 300, pairs: 25 });
  await sides.drop();
  await sides.close();
  return ratio;
}

/** The MySQL inbox, as a ratio to the transaction that a merchant would write by hand. */
export async function measureMysql() {
  const title = `mysql: a callback by mysqlInbox, ${IN_FLIGHT} in flight, ratio to START TRANSACTION, INSERT IGNORE, UPDATE, COMMIT on the same pool`;
  if (!(await hasMysql())) {
    return { title, rows: [{ subject: 'skipped: no server at MYSQL_URL', figure: '' }] };
  }
  const ratio = (...args) => measureInOwnProcess(import.meta.url, mysqlUrl, ...args);
  const rows = [
    atMost('a new change, wall clock', await ratio('new', 'wall clock'), 1.4),
    atMost('a new change, CPU of the process', await ratio('new', 'CPU'), 1.4),
    plainRow('a duplicate, wall clock', await ratio('duplicates', 'wall clock')),
    plainRow('a duplicate, CPU of the process', await ratio('duplicates', 'CPU')),
    plainRow(
      'a new change, without the procedures',
      await ratio('without procedures', 'wall clock'),
    ),
  ];
  return { title, rows };
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measureMysql()]);
}
