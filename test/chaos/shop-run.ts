import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PaymentClient } from '../../src/client/payment-client.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import { startBalancer } from './balancer.js';
import { DATABASES } from './crash-run.js';
import { placeOrders } from './customers.js';
import type { Database } from './database.js';
import { Disruptions } from './disruptions.js';
import { Fleet } from './fleet.js';
import { findWrongOrders, lookAtIntents, untilNothingIsOpen } from './intents.js';
import { createReport, type Report } from './report.js';
import { seededRandom } from './seeded-random.js';
import { type FrontTrouble, type ServiceFront, startFront } from './service-front.js';
import { ServiceLife } from './service-life.js';
import { CALL_TIMEOUT_MS, type ShopConfig, type ShopKind } from './shop-config.js';
import { openShop, type Shop } from './shop-database.js';
import { LEASE_MS, RETRY_SCHEDULE_MS } from './timing.js';

export interface ShopRunOptions {
  readonly kind: ShopKind;
  readonly orders: number;
  /**
   * `meanwhile`: the service calls back as soon as it has created a payment, and all goes wrong together.
   * `afterwards`: when all orders are placed and nothing is killed any more, so that what the store alone
   * has of them is seen.
   */
  readonly callbacks: 'meanwhile' | 'afterwards';
  /** @default 8 */
  readonly processes?: number;
  /** How often a process is killed, in milliseconds on average. */
  readonly killEveryMs: number;
  /** @default a random one; it is in the report */
  readonly seed?: number;
}

const SIGNING_SECRET = 'the signing secret of the crash test';
const TROUBLES: readonly FrontTrouble[] = ['answers 500', 'answers late', 'arrives late'];

interface Scene extends ShopRunOptions {
  readonly random: () => number;
  readonly database: Database;
  readonly mock: MockServer;
  readonly front: ServiceFront;
  readonly shop: Shop;
  readonly shopUrl: string;
  readonly fleet: Fleet;
}

/**
 * Has processes of a shop create payments, each asked for by several callers at once, at a service that
 * loses answers and calls back, often twice or late; kills the processes throughout; and looks at the orders.
 */
export async function runShopTest(options: ShopRunOptions): Promise<Report> {
  const startedAtMs = performance.now();
  const { kind, processes: size = 8, seed = randomInt(2 ** 32) } = options;
  const random = seededRandom(seed);
  const database = await DATABASES[kind]();
  const cleanUps: (() => unknown)[] = [database.stop];
  try {
    let fleet: Fleet | undefined;
    const balancer = await startBalancer(() => fleet?.pickPort());
    cleanUps.unshift(balancer.close);
    const mock = await startMockServer({
      callbackUrl: `${balancer.url}/callbacks`,
      signingSecret: SIGNING_SECRET,
      retryScheduleMs: RETRY_SCHEDULE_MS,
    });
    cleanUps.unshift(() => mock.close());
    const front = await startFront({
      serviceUrl: mock.url,
      pickTrouble: () => (random() < 0.1 ? TROUBLES[Math.floor(random() * 3)] : undefined),
      // Some outlast the lease as well.
      pickDelayMs: () => CALL_TIMEOUT_MS + random() * 1.5 * LEASE_MS,
    });
    cleanUps.unshift(front.close);
    const service = { baseUrl: front.url, apiKey: mock.apiKey, apiSecret: mock.apiSecret };
    const shop = openShop(kind, database.url, new PaymentClient(service));
    cleanUps.unshift(() => shop.close());
    await shop.store.setup();
    const config: ShopConfig = {
      kind,
      storeUrl: database.url,
      service,
      signingSecret: SIGNING_SECRET,
    };
    fleet = await Fleet.start({ size, config, random, worker: 'shop-worker.ts' });
    cleanUps.unshift(() => fleet?.stop());
    const scene = { ...options, random, database, mock, front, shop, shopUrl: balancer.url, fleet };
    const found = await causeEvents(scene);
    return createReport({
      subject: `shop on ${kind}, callbacks ${options.callbacks}`,
      seed,
      payments: mock.payments.list().length,
      ...found,
      guarantee: database.guarantee,
      isReadableWhileDown: database.isReadableWhileDown,
      fleet,
      effects: await database.readEffects(),
      shipments: await database.readShipments?.(),
      durationMs: performance.now() - startedAtMs,
    });
  } finally {
    for (const cleanUp of cleanUps) await cleanUp();
  }
}

async function causeEvents(scene: Scene) {
  const { orders: count, database, mock, front, shop, fleet, random } = scene;
  const { store } = shop;
  // One after the other, so that as many of them fall into each part of the run.
  const references = Array.from(
    { length: count },
    (_, index) => `${index % 2 === 0 ? 'recorded' : 'direct'}-${index + 1}`,
  );
  const life = new ServiceLife(mock, random);
  const disruptions = new Disruptions({
    database,
    mock,
    size: count,
    // While its file is locked, a process waits for longer than most live.
    isCounted: () => true,
  });
  const isMeanwhile = scene.callbacks === 'meanwhile';
  if (isMeanwhile) life.begin();

  const over = new AbortController();
  const killing = fleet.killUntil(over.signal, scene.killEveryMs);
  const watching = watch(shop, over.signal);
  const untilDone = async (reference: string, done: number): Promise<void> => {
    if (!isMeanwhile) return;
    disruptions.next(done);
    await life.untilOver(reference);
  };
  await placeOrders({ ...scene, references, onOrderDone: untilDone })
    .then(() => life.end())
    .finally(() => over.abort());
  await killing;
  const watched = await watching;
  const outages = await disruptions.end();

  mock.faults.clear();
  await front.idle();
  await untilNothingIsOpen(references, store);
  await front.idle();
  const intents = { mock, store, references };
  const before = isMeanwhile ? undefined : await lookAtIntents(intents);
  await life.catchUp();
  const traffic = await life.end();
  const after = await lookAtIntents(intents);
  const orders = await database.readOrders();
  const mistakes = [
    ...watched.torn,
    ...(before?.mistakes ?? []),
    ...after.mistakes,
    ...after.unsettled.map((one) => `${one} exists and is unresolved after its callbacks`),
    ...findWrongOrders(after, orders, mock),
  ];
  const counts = {
    orders: references.length,
    requests: mock.requests.length,
    ...prefixed('before the callbacks: ', before?.counts),
    ...prefixed('at the end: ', after.counts),
    'looks for torn orders': watched.looks,
  };
  return { traffic, outages, orders, more: { mistakes, counts } };
}

/** Looks for orders that are not what the store has of them, while everything is under way. */
async function watch(shop: Shop, signal: AbortSignal) {
  const torn = new Set<string>();
  let looks = 0;
  while (!signal.aborted) {
    // The database may be down.
    const found = await shop.findTorn().catch(() => undefined);
    if (found !== undefined) looks += 1;
    for (const reference of found ?? [])
      torn.add(`${reference} was half of an order, or ahead of its payment`);
    await pause(50, undefined, { signal }).catch(() => {});
  }
  return { torn: [...torn], looks };
}

function prefixed(prefix: string, counts: object = {}): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [`${prefix}${name}`, count]),
  );
}
