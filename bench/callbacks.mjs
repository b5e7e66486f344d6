import { startDelay } from './delay.mjs';
import { ENGINES, isThere } from './engines.mjs';
import { IN_FLIGHT, inFlight } from './in-flight.mjs';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { measureWallAndCpu } from './paired-batches.mjs';
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

/** The cost of a callback by the store, divided by that of one by hand: on the wall clock, and in CPU of the process. */
async function measure(engine, url, subjectName) {
  const subjectOptions = SUBJECTS[subjectName];
  const sides = await openCallbackSides(engine, url, { connections: IN_FLIGHT, ...subjectOptions });
  const [subject, floor] = [inFlight(sides.subject), inFlight(sides.floor)];
  const ratios = await measureWallAndCpu({ floor, subject, batchMs: 300, pairs: 25 });
  await sides.drop();
  await sides.close();
  return ratios;
}

/** A store's callbacks, as a ratio to the transaction that a merchant would write by hand. */
async function measureEngine(engine, rowsOf) {
  const { byHand, url, missing } = ENGINES[engine];
  const title = `${engine}: a callback by ${engine}Store, ${IN_FLIGHT} in flight, ratio to ${byHand} on the same pool`;
  if (!(await isThere(ENGINES[engine]))) {
    return { title, rows: [{ subject: `skipped: ${missing}`, figure: '' }] };
  }
  const ratiosAt = (at, subject) => measureInOwnProcess(import.meta.url, engine, at, subject);
  return { title, rows: await rowsOf((subject) => ratiosAt(url, subject), ratiosAt) };
}

const NEW = 'a new change that settles its payment';
const ELSEWHERE = "a new change of another program's payment, wall clock";

export function measurePostgres() {
  return measureEngine('postgres', async (ratios, ratiosAt) => {
    const created = await ratios('new');
    const delay = await startDelay(ENGINES.postgres.url, 1);
    const delayed = await ratiosAt(delay.url, 'new');
    delay.stop();
    const elsewhere = await ratios('elsewhere');
    const duplicate = await ratios('duplicates');
    return [
      atMost(`${NEW}, wall clock`, created.wall, 2),
      atMost(`${NEW}, CPU`, created.cpu, 1.8),
      atMost('the same, the server 1 ms away, wall clock', delayed.wall, 1.3),
      plainRow(ELSEWHERE, elsewhere.wall),
      atMost('a duplicate, wall clock', duplicate.wall, 1.8),
      plainRow('a duplicate, CPU', duplicate.cpu),
    ];
  });
}

export function measureMysql() {
  return measureEngine('mysql', async (ratios) => {
    const created = await ratios('new');
    const elsewhere = await ratios('elsewhere');
    const duplicate = await ratios('duplicates');
    return [
      atMost(`${NEW}, wall clock`, created.wall, 2.5),
      atMost(`${NEW}, CPU`, created.cpu, 2.5),
      plainRow(ELSEWHERE, elsewhere.wall),
      atMost('a duplicate, wall clock', duplicate.wall, 2.2),
      plainRow('a duplicate, CPU', duplicate.cpu),
    ];
  });
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measurePostgres(), await measureMysql()]);
}
