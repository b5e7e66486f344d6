import { randomInt } from 'node:crypto';
import { startMockServer } from '../../src/mock-server/server.js';
import { startBalancer } from './balancer.js';
import type { Database } from './database.js';
import { Disruptions } from './disruptions.js';
import { Fleet } from './fleet.js';
import { startRedisDatabase } from './redis-database.js';
import { createReport, type Report } from './report.js';
import { seededRandom } from './seeded-random.js';
import { RETRY_SCHEDULE_MS } from './timing.js';
import { runTraffic } from './traffic.js';
import type { StoreKind } from './worker-config.js';

export interface CrashRunOptions {
  readonly kind: StoreKind;
  readonly payments: number;
  /** @default 8 */
  readonly processes?: number;
  /**
   * How often a process is killed, in milliseconds on average. Without it nothing goes wrong, in the
   * database neither.
   */
  readonly killEveryMs?: number;
  /** @default a random one; it is in the report */
  readonly seed?: number;
}

const SIGNING_SECRET = 'the signing secret of the crash test';
const IN_FLIGHT = 60;

/**
 * Runs receiver processes on one Redis, with the service's callbacks multiplied and out of order,
 * kills the processes throughout and the server in between, and looks at what is left.
 */
export async function runCrashTest(options: CrashRunOptions): Promise<Report> {
  const startedAtMs = performance.now();
  const database = await startRedisDatabase();
  const { kind, processes: size = 8, seed = randomInt(2 ** 32) } = options;
  const random = seededRandom(seed);
  const config = { kind, storeUrl: database.url, signingSecret: SIGNING_SECRET };
  const cleanUps: (() => unknown)[] = [database.stop];
  try {
    const fleet = await Fleet.start({ size, config, random });
    cleanUps.unshift(() => fleet.stop());
    const balancer = await startBalancer(() => fleet.pickPort());
    cleanUps.unshift(balancer.close);
    const events = await causeEvents(options, {
      database,
      fleet,
      callbackUrl: balancer.url,
      random,
    });
    return createReport({
      subject: `store on ${kind}`,
      payments: options.payments,
      ...events,
      seed,
      guarantee: database.guarantee,
      isReadableWhileDown: database.isReadableWhileDown,
      fleet,
      effects: await database.readEffects(),
      orders: await database.readOrders(),
      shipments: await database.readShipments?.(),
      durationMs: performance.now() - startedAtMs,
    });
  } finally {
    for (const cleanUp of cleanUps) await cleanUp();
  }
}

interface Scene {
  readonly database: Database;
  readonly fleet: Fleet;
  readonly callbackUrl: string;
  readonly random: () => number;
}

async function causeEvents(
  { payments, killEveryMs }: CrashRunOptions,
  { database, fleet, callbackUrl, random }: Scene,
) {
  const mock = await startMockServer({
    callbackUrl,
    signingSecret: SIGNING_SECRET,
    retryScheduleMs: RETRY_SCHEDULE_MS,
  });
  const run = (onPaymentDone: (count: number) => void) =>
    runTraffic({ mock, payments, inFlight: IN_FLIGHT, random, onPaymentDone });
  try {
    if (killEveryMs === undefined) return { traffic: await run(() => {}), outages: [] };
    const disruptions = new Disruptions({
      database,
      mock,
      size: payments,
      isCounted: ({ response }) => response !== undefined,
    });
    const over = new AbortController();
    const killing = fleet.killUntil(over.signal, killEveryMs);
    const traffic = await run((count) => disruptions.next(count)).finally(() => over.abort());
    await killing;
    return { traffic, outages: await disruptions.end() };
  } finally {
    await mock.close();
  }
}
