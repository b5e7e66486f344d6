// Measures the Postgres and MySQL inbox and outbox beside what a merchant would write by hand, with 1 to 64
// calls in flight, the database 0, 1 and 5 ms away, and a million rows in the tables. Writes concurrency.json
// and draws docs/images/concurrency.svg: `npm run build && node bench/concurrency.mjs`. Options: --quick (half
// the time for each point), --rows, --seconds (for each point), --stores postgres,mysql, --out (a folder for both).

import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawCurves } from './curves.mjs';
import { startDelay } from './delay.mjs';
import { openSides as openMysqlInbox } from './mysql.mjs';
import { hasMysql, mysqlUrl } from './mysql-server.mjs';
import { openOutboxSides } from './outbox-sides.mjs';
import { median } from './paired-batches.mjs';
import { openSides as openPostgresInbox } from './postgres.mjs';
import { databaseUrl, hasPostgres } from './postgres-server.mjs';
import { startService } from './service-process.mjs';

const IN_FLIGHT = [1, 4, 16, 64];
const ROUND_TRIPS_MS = [0, 1, 5];
const PAIRS = 7;

const STORES = {
  postgres: { url: databaseUrl, isThere: hasPostgres, openInbox: openPostgresInbox },
  mysql: { url: mysqlUrl, isThere: hasMysql, openInbox: openMysqlInbox },
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rows: { type: 'string', default: '1000000' },
    seconds: { type: 'string' },
    stores: { type: 'string', default: Object.keys(STORES).join(',') },
    out: { type: 'string' },
  },
});
const rows = wholeNumber('--rows', values.rows, 1_000_000);
const seconds = wholeNumber('--seconds', values.seconds ?? (values.quick ? '3' : '6'), 600);
const stores = values.stores.split(',');
for (const store of stores) {
  if (!(store in STORES)) {
    throw new Error(
      `--stores must name ${Object.keys(STORES).join(' or ')}, but has ${JSON.stringify(store)}`,
    );
  }
}

function wholeNumber(option, text, max) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new Error(
    `${option} must be a whole number from 1 to ${max}, but is ${JSON.stringify(text)}`,
  );
}

/** So many numbers from 0, in the SQL of both. */
const DIGIT = `(SELECT 0 AS n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => ` UNION ALL SELECT ${n}`).join('')})`;
const NUMBERS = `(SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS n FROM ${[...'abcdef'].map((name) => `${DIGIT} AS ${name}`).join(', ')}) AS numbers WHERE numbers.n < ${rows}`;
const OLD = "CONCAT('OLD-', numbers.n)";

/** The rows that are there before, in the tables of both sides. */
async function fill(store, kind, { query, subject }) {
  if (kind === 'outbox') {
    await subject();
    const columns = await columnsOf(query, 'mp_bench_outbox_payments');
    const others = columns.filter((name) => name !== 'reference').join(', ');
    await query(`INSERT INTO mp_bench_outbox_payments (reference, ${others})
      SELECT CONCAT('OLD-', numbers.n), ${others} FROM (SELECT * FROM mp_bench_outbox_payments) AS first, ${NUMBERS}`);
    await query(
      `INSERT INTO mp_bench_intents (reference, body, state) SELECT ${OLD}, '{}', 'created' FROM ${NUMBERS}`,
    );
    return;
  }
  if (store === 'postgres') {
    await query(
      `INSERT INTO mp_bench_events (payment_reference, key, occurred_at_us) SELECT ${OLD}, 'paid', 0 FROM ${NUMBERS}`,
    );
    await query(
      `INSERT INTO mp_bench_payments (payment_reference, occurred_at_us) SELECT ${OLD}, 0 FROM ${NUMBERS}`,
    );
    await query(`INSERT INTO mp_bench_seen (key) SELECT ${OLD} FROM ${NUMBERS}`);
    await query('ANALYZE');
  } else {
    await query(`INSERT INTO mp_bench_events (payment_reference, event_key, occurred_at_us, latest_us, processed_at_us)
      SELECT ${OLD}, 'paid', 0, 0, 0 FROM ${NUMBERS}`);
    await query(`INSERT INTO mp_bench_seen (name) SELECT ${OLD} FROM ${NUMBERS}`);
  }
}

async function columnsOf(query, table) {
  const answer = await query(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = '${table}'`,
  );
  return (answer.rows ?? answer[0]).map(({ name }) => name);
}

/** Milliseconds per call, with so many under way, over about `ms`. */
async function cost(call, inFlight, ms) {
  const startedAt = performance.now();
  let calls = 0;
  const worker = async () => {
    do {
      calls += 1;
      await call();
    } while (performance.now() - startedAt < ms);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (performance.now() - startedAt) / calls;
}

/** The median ratio of pairs of batches that follow each other, every second pair turned round. */
async function ratioOf({ subject, floor }, inFlight) {
  const ms = (seconds * 1000) / (2 * PAIRS + 2);
  await cost(floor, inFlight, ms);
  await cost(subject, inFlight, ms);
  const ratios = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const order = pair % 2 === 0 ? [floor, subject] : [subject, floor];
    const first = await cost(order[0], inFlight, ms);
    const second = await cost(order[1], inFlight, ms);
    ratios.push(pair % 2 === 0 ? second / first : first / second);
  }
  return median(ratios);
}

async function measureStore(store, kind, client) {
  const { url, openInbox } = STORES[store];
  const open = (at, options) =>
    kind === 'inbox' ? openInbox(at, options) : openOutboxSides(store, at, { ...options, client });
  const base = await open(url, { connections: 1, keyOf: (count) => `first-${count}` });
  const points = [];
  try {
    await fill(store, kind, base);
    for (const roundTripMs of ROUND_TRIPS_MS) {
      const delay = roundTripMs === 0 ? undefined : await startDelay(url, roundTripMs);
      for (const inFlight of IN_FLIGHT) {
        const keyOf = (count) => `new-${roundTripMs}-${inFlight}-${count}`;
        const sides = await open(delay?.url ?? url, {
          connections: inFlight,
          keyOf,
          isReady: true,
        });
        const ratio = Number((await ratioOf(sides, inFlight)).toFixed(3));
        await sides.close();
        points.push({ store, kind, roundTripMs, inFlight, ratio });
        console.log(
          `${store} ${kind}, ${inFlight} in flight, ${roundTripMs} ms away: ${ratio.toFixed(2)}`,
        );
      }
      delay?.stop();
    }
  } finally {
    await base.drop();
    await base.close();
  }
  return points;
}

const service = await startService();
const { PaymentClient } = await import('../dist/index.js');
const client = new PaymentClient({ baseUrl: service.baseUrl, apiKey: 'key', apiSecret: 'secret' });
const points = [];
try {
  for (const store of stores) {
    if (!(await STORES[store].isThere()))
      throw new Error(`no ${store} answers at ${new URL(STORES[store].url).host}`);
    for (const kind of ['inbox', 'outbox'])
      points.push(...(await measureStore(store, kind, client)));
  }
} finally {
  await client.close();
  service.stop();
}
const results = {
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  cpus: availableParallelism(),
  rows,
  seconds,
  points,
};
const place = (name) =>
  values.out === undefined
    ? fileURLToPath(new URL(name, import.meta.url))
    : path.join(values.out, path.basename(name));
writeFileSync(place('./concurrency.json'), `${JSON.stringify(results, undefined, 2)}\n`);
writeFileSync(place('../docs/images/concurrency.svg'), drawCurves(results));
