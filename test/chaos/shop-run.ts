import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PaymentClient } from '../../src/client/payment-client.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import { startBalancer } from './balancer.js';
import { placeOrders } from './customers.js';
import type { Database } from './database.js';
import { Disruptions } from './disruptions.js';
import { Fleet } from './fleet.js';
import { findWrongOrders, list, lookAtIntents, lookUp, untilNothingIsOpen } from './intents.js';
import { startMysqlDatabase } from './mysql-database.js';
import { startPostgresDatabase } from './postgres-database.js';
import { createReport, type Report } from './report.js';
import { findLocked, findUnwanted, tryAgain } from './second-tries.js';
import { seededRandom } from './seeded-random.js';
import { type FrontTrouble, type ServiceFront, startFront } from './service-front.js';
import { ServiceLife } from './service-life.js';
import { CALL_TIMEOUT_MS, type ShopConfig, type ShopKind, toOrder } from './shop-config.js';
import { openShop, type Shop } from './shop-database.js';
import { startSqliteDatabase } from './sqlite-database.js';
import { LEASE_MS, RETRY_SCHEDULE_MS } from './timing.js';

/** The databases of the run's own. */
const DATABASES: Readonly<Record<ShopKind, () => Promise<Database>>> = {
  postgres: startPostgresDatabase,
  mysql: startMysqlDatabase,
  sqlite: startSqliteDatabase,
};

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
const TROUBLES: readonly FrontTrouble['type'][] = ['answers 500', 'answers late', 'arrives late'];
// One in so many creations reaches the service only when the lease of its sender is over.
const SLOWEST_ONE_IN = 10;

interface Scene extends ShopRunOptions {
  readonly random: () => number;
  readonly database: Database;
  readonly mock: MockServer;
  readonly front: ServiceFront;
  readonly troubles: Troubles;
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
    const troubles = new Troubles(random);
    const front = await startFront({
      serviceUrl: mock.url,
      pickTrouble: () => troubles.next(),
      lookUp: (reference) => lookUp(reference, mock),
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
    const shopUrl = balancer.url;
    const scene = { ...options, random, database, mock, front, troubles, shop, shopUrl, fleet };
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
  const { orders: count, database, mock, front, troubles, shop, fleet, random } = scene;
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
    await tryAgain(reference, { ...scene, life });
  };
  await placeOrders({ ...scene, references, onOrderDone: untilDone })
    .then(() => life.end())
    .finally(() => over.abort());
  await killing;
  const watched = await watching;
  const outages = await disruptions.end();

  mock.faults.clear();
  troubles.end();
  await front.idle();
  const intents = { mock, store, orders: references };
  await untilNothingIsOpen(intents);
  await front.idle();
  const before = isMeanwhile ? undefined : await lookAtIntents(intents);
  await life.catchUp();
  const { locked, tried } = await findLocked({
    ...intents,
    shopUrl: scene.shopUrl,
    orders: isMeanwhile ? references : [],
  });
  await life.catchUp();
  const traffic = await life.end();
  const after = await lookAtIntents(intents);
  const seconds = await list(store, 'second-payment');
  const orders = await database.readOrders();
  // Each order's payments follow one another.
  const latest = new Map([...after.states.keys()].map((one) => [toOrder(one), one]));
  const mistakes = [
    ...watched.torn,
    ...(before?.mistakes ?? []),
    ...after.mistakes,
    ...after.unsettled.map((one) => `${one} exists and is unresolved after its callbacks`),
    ...findWrongOrders(after, orders, mock),
    ...locked,
    ...findUnwanted(mock),
  ];
  const counts = {
    orders: references.length,
    requests: mock.requests.length,
    'requests that outlasted the lease': troubles.slowest,
    'further payments': after.states.size - references.length,
    'of those, tried at the end': tried,
    'second payments, listed': seconds.size,
    ...prefixed('before the callbacks: ', before?.counts),
    ...prefixed('at the end: ', after.counts),
    'looks for torn orders': watched.looks,
  };
  return { traffic, outages, orders, latest, seconds, more: { mistakes, counts } };
}

/** What goes wrong in front of the service. */
class Troubles {
  /** How many requests took longer than the lease until they reached it. */
  slowest = 0;
  readonly #random: () => number;
  #requests = 0;
  #areOver = false;

  constructor(random: () => number) {
    this.#random = random;
  }

  next(): FrontTrouble | undefined {
    if (this.#areOver) return undefined;
    this.#requests += 1;
    if (this.#requests % SLOWEST_ONE_IN === 0) {
      this.slowest += 1;
      return { type: 'arrives late', delayMs: LEASE_MS * (1.1 + 0.4 * this.#random()) };
    }
    const type = TROUBLES[Math.floor(this.#random() * 30)];
    return type && { type, delayMs: CALL_TIMEOUT_MS + this.#random() * LEASE_MS };
  }

  end(): void {
    this.#areOver = true;
  }
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
