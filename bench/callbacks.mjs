import { startDelay } from './delay.mjs';
import { ENGINES, isThere } from './engines.mjs';
import { IN_FLIGHT, inFlight } from './in-flight.mjs';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { cpuClock, measureRatio, wallClock } from './paired-batches.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';
import { openCallbackSides } from './sides.mjs';

/** More than a run processes. */
const CREATED = 200_000;

/** The changes that are measured: of payments that the store has created, which they settle, or of others. */
const SUBJECTS = {
  new: { keyOf: (count) => `order-${count}`, created: CREATED },
  elsewhere: { keyOf: (count) => `elsewhere-${count}` },
  duplicates: { keyOf: (count) => `order-${count % 100}`, created: 100 },
};

/** The cost of a callback by the store, divided by that of one by hand. */
async function measure(engine, url, subjectName, clockName) {
  const subjectOptions = SUBJECTS[subjectName];
  const sides = await openCallbackSides(engine, url, { connections: IN_FLIGHT, ...subjectOptions });
  const [subject, floor] = [inFlight(sides.subject), inFlight(sides.floor)];
  const clock = clockName === 'CPU' ? cpuClock : wallClock;
  const ratio = await measureRatio({ floor, subject, clock, batchMs: 300, pairs: 25 });
  await sides.drop();
  await sides.close();
  return ratio;
}

/** A store's callbacks, as a ratio to the transaction that a merchant would write by hand. */
async function measureEngine(engine, rowsOf) {
  const { byHand, url, missing } = ENGINES[engine];
  const title = `${engine}: a callback by ${engine}Store, ${IN_FLIGHT} in flight, ratio to ${byHand} on the same pool`;
  if (!(await isThere(ENGINES[engine]))) {
    return { title, rows: [{ subject: `skipped: ${missing}`, figure: '' }] };
  }
  const ratioAt = (at, ...args) => measureInOwnProcess(import.meta.url, engine, at, ...args);
  return { title, rows: await rowsOf((...args) => ratioAt(url, ...args), ratioAt) };
}

const NEW = 'a new change with the settling of its payment';
const ELSEWHERE = 'a new change of a payment that the store has not created, wall clock';

export function measurePostgres() {
  return measureEngine('postgres', async (ratio, ratioAt) => {
    const delay = await startDelay(ENGINES.postgres.url, 1);
    const rows = [
      atMost(`${NEW}, wall clock`, await ratio('new', 'wall clock'), 1.5),
      atMost(`${NEW}, CPU of the process`, await ratio('new', 'CPU'), 1.15),
      plainRow(
        `${NEW}, the server 1 ms away, wall clock`,
        await ratioAt(delay.url, 'new', 'wall clock'),
      ),
      plainRow(ELSEWHERE, await ratio('elsewhere', 'wall clock')),
      atMost('a duplicate, wall clock', await ratio('duplicates', 'wall clock'), 1.3),
      plainRow('a duplicate, CPU of the process', await ratio('duplicates', 'CPU')),
    ];
    delay.stop();
    return rows;
  });
}

export function measureMysql() {
  return measureEngine('mysql', async (ratio) => [
    atMost(`${NEW}, wall clock`, await ratio('new', 'wall clock'), 2),
    plainRow(`${NEW}, CPU of the process`, await ratio('new', 'CPU')),
    plainRow(ELSEWHERE, await ratio('elsewhere', 'wall clock')),
    plainRow('a duplicate, wall clock', await ratio('duplicates', 'wall clock')),
    plainRow('a duplicate, CPU of the process', await ratio('duplicates', 'CPU')),
  ]);
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measurePostgres(), await measureMysql()]);
}
