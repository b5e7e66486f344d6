import { randomInt } from 'node:crypto';
import { startMockServer } from '../../src/mock-server/server.js';
import { startBalancer } from './balancer.js';
import { Disruptions } from './disruptions.js';
import { Fleet } from './fleet.js';
import { startMysqlStore } from './mysql-store.js';
import { startPostgresStore } from './postgres-store.js';
import { startRedisStore } from './redis-store.js';
import { createReport, type Report } from './report.js';
import { seededRandom } from './seeded-random.js';
import { startSqliteStore } from './sqlite-store.js';
import type { Store } from './store.js';
import { RETRY_SCHEDULE_MS } from './timing.js';
import { runTraffic } from './traffic.js';
import type { InboxKind } from './worker-config.js';

export interface CrashRunOptions {
  readonly inbox: InboxKind;
  readonly payments: number;
  /** @default 8 */
  readonly processes?: number;
  /**
   * How often a process is killed, in milliseconds on average. Without it nothing goes wrong, in the
   * store neither.
   */
  readonly killEveryMs?: number;
  /** @default a random one; it is in the report */
  readonly seed?: number;
}

/** The databases of the run's own. */
export const STORES: Readonly<Record<InboxKind, () => Promise<Store>>> = {
  postgres: startPostgresStore,
  mysql: startMysqlStore,
  redis: startRedisStore,
  sqlite: startSqliteStore,
  memory: startPostgresStore,
};

const SIGNING_SECRET = 'the signing secret of the crash test';
const IN_FLIGHT = 60;

/**
 * Runs receiver processes on one store, with the service's callbacks multiplied and out of order,
 * kills the processes throughout and the store in between, and looks at what is left.
 */
export async function runCrashTest(options: CrashRunOptions): Promise<Report> {
  const startedAtMs = performance.now();
  const store = await STORES[options.inbox]();
  const { processes: size = 8, seed = randomInt(2 ** 32) } = options;
  const random = seededRandom(seed);
  const config = { inbox: options.inbox, storeUrl: store.url, signingSecret: SIGNING_SECRET };
  const cleanUps: (() => unknown)[] = [store.stop];
  try {
    const fleet = await Fleet.start({ size, config, random });
    cleanUps.unshift(() => fleet.stop());
    const balancer = await startBalancer(() => fleet.pickPort());
    cleanUps.unshift(balancer.close);
    const events = await causeEvents(options, { store, fleet, callbackUrl: balancer.url, random });
    return createReport({
      subject: `${options.inbox} inbox`,
      payments: options.payments,
      ...events,
      seed,
      guarantee: store.guarantee,
      isReadableWhileDown: store.isReadableWhileDown,
      fleet,
      effects: await store.readEffects(),
      orders: await store.readOrders(),
      shipments: await store.readShipments?.(),
      durationMs: performance.now() - startedAtMs,
    });
  } finally {
    for (const cleanUp of cleanUps) await cleanUp();
  }
}

interface Scene {
  readonly store: Store;
  readonly fleet: Fleet;
  readonly callbackUrl: string;
  readonly random: () => number;
}

async function causeEvents(
  { payments, killEveryMs }: CrashRunOptions,
  { store, fleet, callbackUrl, random }: Scene,
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
      store,
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
