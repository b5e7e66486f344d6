// Measures callbacks and creations by the stores on Postgres and MySQL beside what a merchant would write by hand,
// with 1 to 64 calls in flight, the database 0, 1 and 5 ms away, and a million rows in the tables. Writes concurrency.json
// and draws docs/images/concurrency.svg: `npm run build && node bench/concurrency.mjs`. Options: --quick (half
// the time for each point), --rows, --seconds (for each point), --stores postgres,mysql, --out (a folder for both).

import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawCurves } from './curves.mjs';
import { startDelay } from './delay.mjs';
import { ENGINES, isThere } from './engines.mjs';
import { median } from './paired-batches.mjs';
import { startService } from './service-process.mjs';
import { openCallbackSides, openCreationSides } from './sides.mjs';

const IN_FLIGHT = [1, 4, 16, 64];
const ROUND_TRIPS_MS = [0, 1, 5];
const PAIRS = 7;

const STORES = ['postgres', 'mysql'];
const SIDES = { callback: openCallbackSides, create: openCreationSides };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rows: { type: 'string', default: '1000000' },
    seconds: { type: 'string' },
    stores: { type: 'string', default: STORES.join(',') },
    out: { type: 'string' },
  },
});
const rows = wholeNumber('--rows', values.rows, 1_000_000);
const seconds = wholeNumber('--seconds', values.seconds ?? (values.quick ? '3' : '6'), 600);
const stores = values.stores.split(',');
for (const store of stores) {
  if (!STORES.includes(store)) {
    throw new Error(`--stores must name ${STORES.join(' or ')}, but has ${JSON.stringify(store)}`);
  }
}

function wholeNumber(option, text, max) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new Error(
    `${option} must be a whole number from 1 to ${max}, but is ${JSON.stringify(text)}`,
  );
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
  const { url } = ENGINES[store];
  const open = (at, options) => SIDES[kind](store, at, { ...options, client });
  const base = await open(url, { connections: 1, keyOf: (count) => `first-${count}` });
  const points = [];
  try {
    await base.fill(rows);
    if (store === 'postgres') await base.query('ANALYZE');
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
    if (!(await isThere(ENGINES[store])))
      throw new Error(`no ${store} answers at ${new URL(ENGINES[store].url).host}`);
    for (const kind of Object.keys(SIDES))
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
