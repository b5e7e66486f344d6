/** The middle value; of an even number of them the upper middle one. */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** The variant of a suite for regression.mjs, which runs in every CI. */
export const SHORT = 'short';
export const SHORT_BATCHES = { batchMs: 20, pairs: 21 };

/**
 * Of CPU. Long, since the floors' garbage is collected seldom and at length: the median of short batches
 * leaves that out. Warm, since the client's first 5,000 calls cost several times as much as those from 20,000
 * on.
 */
export const LONG_BATCHES = { batchMs: 250, pairs: 9, warmUpMs: 2000 };

/** The value that the given share of them, from 0 to 1, does not exceed. */
export function percentile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1];
}

/** How far values lie from their median: the median of the distances. */
export function medianDeviation(values) {
  const middle = median(values);
  return median(values.map((value) => Math.abs(value - middle)));
}

/** Milliseconds on the wall clock. */
export const wallClock = () => performance.now();

/** Milliseconds of CPU that this process has used, system calls and background threads included. */
export function cpuClock() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Cost per call of `subject` divided by that of `floor`: the median over pairs of batches that
 * follow each other, so that a machine that slows down slows both. A batch is a function that makes
 * the given number of calls, and is sized to cost about `batchMs` on `clock`. Before that each side runs for
 * `warmUpMs`.
 */
export async function measureRatio({ floor, subject, clock, batchMs, pairs, warmUpMs = 0 }) {
  const floorCalls = await sizeBatch(floor, clock, batchMs, warmUpMs);
  const subjectCalls = await sizeBatch(subject, clock, batchMs, warmUpMs);
  const ratios = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    // Every second pair is turned round: the first may pay for the other's garbage.
    const floorFirst = pair % 2 === 0;
    let floorCost = floorFirst ? await costPerCall(floor, floorCalls, clock) : 0;
    const subjectCost = await costPerCall(subject, subjectCalls, clock);
    if (!floorFirst) floorCost = await costPerCall(floor, floorCalls, clock);
    ratios.push(subjectCost / floorCost);
  }
  return median(ratios);
}

/** Both ratios, on the wall clock and of CPU, of the same batches. Their size is by the wall clock. */
export async function measureWallAndCpu({ floor, subject, batchMs, pairs }) {
  const sides = [
    { batch: floor, calls: await sizeBatch(floor, wallClock, batchMs, 0) },
    { batch: subject, calls: await sizeBatch(subject, wallClock, batchMs, 0) },
  ];
  const ratios = { wall: [], cpu: [] };
  for (let pair = 0; pair < pairs; pair += 1) {
    const costs = [];
    // Every second pair is turned round, as above.
    for (const at of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      const { batch, calls } = sides[at];
      const [wallAt, cpuAt] = [wallClock(), cpuClock()];
      await batch(calls);
      costs[at] = { wall: (wallClock() - wallAt) / calls, cpu: (cpuClock() - cpuAt) / calls };
    }
    for (const clock of ['wall', 'cpu']) ratios[clock].push(costs[1][clock] / costs[0][clock]);
  }
  return { wall: median(ratios.wall), cpu: median(ratios.cpu) };
}

async function costPerCall(batch, calls, clock) {
  const startedAt = clock();
  await batch(calls);
  return (clock() - startedAt) / calls;
}

// Grows until a batch costs enough, which warms the code up as well.
async function sizeBatch(batch, clock, batchMs, warmUpMs) {
  let calls = 100;
  let cost = 0;
  let spentMs = 0;
  for (let warm = 0; warm < 5 || spentMs < warmUpMs; ) {
    cost = await costPerCall(batch, calls, clock);
    spentMs += cost * calls;
    if (cost * calls >= batchMs / 2) warm += 1;
    else calls *= 2;
  }
  return Math.max(1, Math.round(batchMs / cost));
}
