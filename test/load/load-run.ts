import { randomBytes, randomInt } from 'node:crypto';
import { seededRandom } from '../chaos/seeded-random.js';
import { findFreePort } from '../services/throwaway-server.js';
import { Accounts } from './accounts.js';
import type { CallEnd, ClientCalls } from './client-worker.js';
import type { Range } from './plan.js';
import type { ReceiverCalls } from './receiver-worker.js';
import { createReport, type Report } from './report.js';
import type { ServiceCalls } from './service-worker.js';
import { PROCESSES, type Snapshot, takeSnapshot, type Workers } from './snapshot.js';
import { WorkerProcess } from './worker-process.js';

export interface LoadRunOptions {
  /** In all, the warm-up included. */
  readonly payments: number;
  /** They are made in rounds of this size. */
  readonly roundSize: number;
  /** How many of the rounds are the warm-up. */
  readonly warmUpRounds: number;
  /**
   * Whether the heap must have stayed the same, and the store be full after the warm-up: not a
   * question for a short run, whose figures are too small.
   */
  readonly comparesHeap: boolean;
  /** @default a random one; it is in the report */
  readonly seed?: number | undefined;
  /** Told of each round when it is over. */
  onRound?(line: string): void;
}

/** More than the client's connections, so that some calls wait for one. */
const BURST = 600;
/** Calls that are made at the same time otherwise, at most. */
const MAX_GROUP = 40;
/** Groups that are under way at the same time. */
const GROUPS = 12;
const SHORT_LIVES = 20;
/** The mock looks through all of them for each request. Only a busy machine leaves as many behind. */
const MAX_PENDING_FAULTS = 600;

/**
 * Makes payments against the mock and has their callbacks sent to a receiver, with everything going
 * wrong that can, and holds against each other what the three know in the end.
 *
 * Client, service and receiver are processes of their own, so that what one holds is not taken for
 * another's. After each round they are left alone until they hold no connection, and measured. What
 * is bounded has to be full by then, or its filling would pass for a leak: the store is smaller than
 * what a round puts in, the service's logs (10,000 entries) too, each round has a burst of more calls
 * than the client opens connections, and a reset service begins every round with nothing. So rounds
 * are alike, and what grows from the warm-up to the last of them is a leak.
 *
 * The heap holds compiled code too, which Node goes on making for tens of thousands of calls: about a
 * megabyte in each process. A heap snapshot tells it from a leak, by the type of what was added.
 */
export async function runLoad(options: LoadRunOptions): Promise<Report> {
  const { payments, roundSize, seed = randomInt(2 ** 31) } = options;
  const startedAtMs = performance.now();
  const [client, service, receiver] = await Promise.all([
    WorkerProcess.start<ClientCalls>('client-worker'),
    WorkerProcess.start<ServiceCalls>('service-worker'),
    WorkerProcess.start<ReceiverCalls>('receiver-worker'),
  ]);
  const workers = { client, service, receiver };
  try {
    await start(workers, seed, options.comparesHeap ? Math.ceil(roundSize * 0.8) : 100_000);
    const accounts = new Accounts(seed);
    const random = seededRandom(seed);
    const snapshots: Snapshot[] = [];
    for (let from = 0; from < payments; from += roundSize) {
      const range = { from, to: Math.min(payments, from + roundSize) };
      const roundAtMs = performance.now();
      const ends = await runRound(workers, range, random);
      await service.call('settle');
      accounts.add({
        ends,
        service: await service.call('take'),
        receiver: await receiver.call('take'),
      });
      const trafficMs = performance.now() - roundAtMs;
      snapshots.push(await takeSnapshot(workers));
      options.onRound?.(describeRound(range.to, trafficMs, snapshots, accounts.mistakes));
    }
    return createReport({
      seed,
      comparesHeap: options.comparesHeap,
      warmUpRounds: options.warmUpRounds,
      accounts,
      snapshots,
      alarms: [
        ...(await client.call('listAlarms')).map((alarm) => `client: ${alarm}`),
        ...(await service.call('listAlarms')).map((alarm) => `service: ${alarm}`),
        ...(await receiver.call('listAlarms')).map((alarm) => `receiver: ${alarm}`),
      ],
      durationMs: performance.now() - startedAtMs,
    });
  } finally {
    for (const worker of [client, service, receiver]) worker.stop();
  }
}

function describeRound(
  payments: number,
  trafficMs: number,
  snapshots: readonly Snapshot[],
  mistakes: readonly string[],
): string {
  const snapshot = snapshots.at(-1);
  const heaps = PROCESSES.map(
    (name) => `${name} ${((snapshot?.[name].heapUsed ?? 0) / 2 ** 20).toFixed(2)}`,
  );
  const last = mistakes.length > 0 ? `, ${mistakes.length} mistakes: ${mistakes.at(-1)}` : '';
  return `${payments} payments, ${Math.round(trafficMs / 1000)} s, MiB: ${heaps.join(', ')}${last}`;
}

async function start({ client, service, receiver }: Workers, seed: number, storeEntries: number) {
  const signingSecret = randomBytes(24).toString('hex');
  const callbackUrl = await receiver.call('start', { seed, signingSecret, storeEntries });
  const account = await service.call('start', { seed, callbackUrl, signingSecret });
  const closedUrl = `http://127.0.0.1:${await findFreePort()}`;
  await client.call('start', { seed, closedUrl, ...account });
}

async function runRound(
  { client, service }: Workers,
  round: Range,
  random: () => number,
): Promise<CallEnd[]> {
  const ends: CallEnd[] = [];
  const underWay = new Set<Promise<void>>();
  const begin = async (name: 'run' | 'runShortLives', range: Range): Promise<void> => {
    const pending = await service.call('plan', range);
    const group = client.call(name, range).then((some) => void ends.push(...some));
    underWay.add(group);
    group.finally(() => underWay.delete(group)).catch(() => {});
    if (pending < MAX_PENDING_FAULTS) return;
    await Promise.all(underWay);
    await service.call('tidy');
  };
  let { from } = round;
  const take = (size: number): Range => {
    const range = { from, to: Math.min(round.to, from + size) };
    from = range.to;
    return range;
  };
  await begin('run', take(BURST));
  await begin('runShortLives', take(SHORT_LIVES));
  await service.call('runShortLives', SHORT_LIVES);
  while (from < round.to) {
    while (underWay.size >= GROUPS) await Promise.race(underWay);
    await begin('run', take(1 + Math.floor(random() * MAX_GROUP)));
  }
  await Promise.all(underWay);
  return ends;
}
