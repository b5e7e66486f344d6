import { ENGINES, isThere } from './engines.mjs';
import { IN_FLIGHT, inFlight } from './in-flight.mjs';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { cpuClock, measureRatio, median, wallClock } from './paired-batches.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';
import { startService } from './service-process.mjs';
import { openCreationSides } from './sides.mjs';

const PROCESSES = 3;
const LIMITS = { postgres: 1.9 };

/** The cost of a payment by the store, divided by that of one with two statements by hand. */
async function measure(engine, clockName, baseUrl) {
  const { PaymentClient } = await import('../dist/index.js');
  const client = new PaymentClient({ baseUrl, apiKey: 'key', apiSecret: 'secret' });
  const sides = await openCreationSides(engine, ENGINES[engine].url, {
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

/** `store.create`, as a ratio to the two statements that a merchant would write around the call. */
export async function measureCreation() {
  const title = `store.create: a payment, ${IN_FLIGHT} in flight, ratio to INSERT, payments.create, UPDATE on the same database`;
  const { baseUrl, stop } = await startService();
  const rows = [];
  for (const [engine, { missing, ...rest }] of Object.entries(ENGINES)) {
    if (!(await isThere(rest))) {
      rows.push({ subject: `skipped: ${missing}`, figure: '' });
      continue;
    }
    for (const clock of ['wall clock', 'CPU']) {
      const ratios = [];
      for (let round = 0; round < PROCESSES; round += 1) {
        ratios.push(await measureInOwnProcess(import.meta.url, engine, clock, baseUrl));
      }
      const subject = `${engine}Store, ${clock}`;
      const [ratio, limit] = [median(ratios), LIMITS[engine]];
      const hasLimit = limit !== undefined && clock !== 'CPU';
      rows.push(hasLimit ? atMost(subject, ratio, limit) : plainRow(subject, ratio));
    }
  }
  stop();
  return { title, rows };
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measureCreation()]);
}
