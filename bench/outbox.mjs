import { IN_FLIGHT, inFlight } from './in-flight.mjs';
import { hasMysql, mysqlUrl } from './mysql-server.mjs';
import { hasSqlite, openOutboxSides } from './outbox-sides.mjs';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { cpuClock, measureRatio, median, wallClock } from './paired-batches.mjs';
import { databaseUrl, hasPostgres } from './postgres-server.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';
import { startService } from './service-process.mjs';

/** The cost of a payment by the outbox, divided by that of one with two statements by hand. */
async function measure(store, clockName, baseUrl) {
  const { PaymentClient } = await import('../dist/index.js');
  const client = new PaymentClient({ baseUrl, apiKey: 'key', apiSecret: 'secret' });
  const sides = await openOutboxSides(store, STORES[store].url, {
    connections: IN_FLIGHT,
    keyOf: (count) => `order-${count}`,
    client,
  });
  const [subject, floor] = [inFlight(sides.subject), inFlight(sides.floor)];
  const clock = clockName === 'CPU' ? cpuClock : wallClock;
  const ratio = await measureRatio({ floor, subject, clock, batchMs: 300, pairs: 25 });
  await sides.drop();
  await sides.close();
  await client.close();
  return ratio;
}

const STORES = {
  postgres: {
    url: databaseUrl,
    isThere: hasPostgres,
    goal: 1.3,
    missing: 'no Postgres at DATABASE_URL',
  },
  mysql: { url: mysqlUrl, isThere: hasMysql, missing: 'no server at MYSQL_URL' },
  sqlite: { isThere: hasSqlite, missing: 'better-sqlite3 is not installed in test' },
};
const PROCESSES = 3;

/** The outbox, as a ratio to the two statements that a merchant would write around the call. */
export async function measureOutbox() {
  const title = `outbox: a payment by outbox.create, ${IN_FLIGHT} in flight, ratio to INSERT, payments.create, UPDATE on the same database`;
  const { baseUrl, stop } = await startService();
  const rows = [];
  for (const [store, { isThere, goal, missing }] of Object.entries(STORES)) {
    if (!(await isThere())) {
      rows.push({ subject: `skipped: ${missing}`, figure: '' });
      continue;
    }
    for (const clock of ['wall clock', 'CPU']) {
      const ratios = [];
      for (let round = 0; round < PROCESSES; round += 1) {
        ratios.push(await measureInOwnProcess(import.meta.url, store, clock, baseUrl));
      }
      const subject = `${store}Outbox, ${clock === 'CPU' ? 'CPU of the process' : clock}`;
      const ratio = median(ratios);
      rows.push(goal === undefined ? plainRow(subject, ratio) : atMost(subject, ratio, goal));
    }
  }
  stop();
  return { title, rows };
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measureOutbox()]);
}
