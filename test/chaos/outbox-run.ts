import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PaymentClient } from '../../src/client/payment-client.js';
import type { RequestFault } from '../../src/mock-server/faults/fault.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import type { PaymentOutbox } from '../../src/outbox/outbox.js';
import { startBalancer } from './balancer.js';
import { Fleet } from './fleet.js';
import { LEASE_MS, type OutboxKind } from './outbox-config.js';
import { openStore, startOutboxStore } from './outbox-store.js';
import { seededRandom } from './seeded-random.js';
import { RETRY_SCHEDULE_MS } from './timing.js';

export interface OutboxRunOptions {
  readonly outbox: OutboxKind;
  readonly orders: number;
  /** @default 8 */
  readonly processes?: number;
  /** How often a process is killed, in milliseconds on average. */
  readonly killEveryMs: number;
  /** @default a random one; it is in the report */
  readonly seed?: number;
}

export interface OutboxReport {
  /** What must not have happened: one line for each mistake. */
  readonly mistakes: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly text: string;
}

const SIGNING_SECRET = 'the signing secret of the crash test';
const IN_FLIGHT = 20;
const CALLERS = 3;
// The last one creates the payment before its body is lost.
const FAULTS: readonly RequestFault['type'][] = [
  'lost-answer',
  'lost-answer',
  'reset-before-headers',
  'server-error',
  'hang',
  'rate-limit',
  'unauthorized',
  'reset-in-body',
  'truncated-body',
];

/**
 * Has processes of a shop create payments, each asked for by several callers at once, at a service that
 * loses answers; kills the processes throughout; and looks at what is left, before and after the callbacks.
 */
export async function runOutboxTest(options: OutboxRunOptions): Promise<OutboxReport> {
  const { outbox: kind, processes: size = 8, seed = randomInt(2 ** 32) } = options;
  const random = seededRandom(seed);
  const store = await startOutboxStore(kind);
  const cleanUps: (() => unknown)[] = [() => store.stop()];
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
    const { url: baseUrl, apiKey, apiSecret } = mock;
    const service = { baseUrl, apiKey, apiSecret };
    const client = new PaymentClient(service);
    const opened = openStore(kind, store.url, client);
    cleanUps.unshift(() => opened.close());
    await opened.outbox.setup();
    await opened.inbox.setup();
    const config = { outbox: kind, storeUrl: store.url, service, signingSecret: SIGNING_SECRET };
    fleet = await Fleet.start({ size, config, random, worker: 'outbox-worker.ts' });
    const running = fleet;
    cleanUps.unshift(() => running.stop());
    const scene = { mock, outbox: opened.outbox, url: balancer.url, random };
    const references = Array.from({ length: options.orders }, (_, index) => `order-${index + 1}`);

    const over = new AbortController();
    const killing = running.killUntil(over.signal, options.killEveryMs);
    await createAll(references, scene).finally(() => over.abort());
    await killing;
    mock.faults.clear();
    await untilNothingIsOpen(references, opened.outbox);
    const before = await look(references, scene);
    await settleAll(mock);
    const after = await look(references, scene);
    const mistakes = [
      ...before.mistakes,
      ...after.mistakes,
      ...after.unresolved
        .filter((reference) => after.existing.has(reference))
        .map((reference) => `${reference} exists and is unresolved after its callback`),
      ...running.mistakes,
      ...running.crashes.map((exit) => `a process ended by itself: ${exit}`),
    ];
    const counts = {
      orders: references.length,
      requests: mock.requests.length,
      kills: running.kills,
      'payments at the service': mock.payments.list().length,
      ...before.states,
      'unresolved after the callbacks': after.unresolved.length,
      ...Object.fromEntries([...running.errors].map(([name, count]) => [`error ${name}`, count])),
      mistakes: mistakes.length,
    };
    return { mistakes, counts, text: toText(`${kind} outbox, seed ${seed}`, counts, mistakes) };
  } finally {
    for (const cleanUp of cleanUps) await cleanUp();
  }
}

interface Scene {
  readonly mock: MockServer;
  readonly outbox: PaymentOutbox;
  readonly url: string;
  readonly random: () => number;
}

async function createAll(references: readonly string[], scene: Scene): Promise<void> {
  const waiting = references.values();
  const takeOneAfterAnother = async (): Promise<void> => {
    for (const reference of waiting) {
      if (scene.random() < 0.6) addFault(reference, scene);
      await Promise.all(Array.from({ length: CALLERS }, () => ask(reference, scene)));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, takeOneAfterAnother));
}

function addFault(reference: string, { mock, random }: Scene): void {
  const type = FAULTS[Math.floor(random() * FAULTS.length)] as 'hang';
  mock.faults.add({ on: 'request', type, match: { merchantPaymentReference: reference } });
}

/** As a customer does: again when the process that was asked has died. */
async function ask(reference: string, { url }: Scene): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const answer = await fetch(`${url}/create/${reference}`, {
      headers: { connection: 'close' },
    }).catch(() => undefined);
    await answer?.text().catch(() => undefined);
    if (answer !== undefined) return;
    await pause(50);
  }
}

/** Until leases have run out, and what was recorded is sent. */
async function untilNothingIsOpen(
  references: readonly string[],
  outbox: PaymentOutbox,
): Promise<void> {
  await pause(LEASE_MS);
  for (;;) {
    await outbox.recover();
    const states = await Promise.all(references.map(async (one) => (await outbox.get(one))?.state));
    if (!states.some((state) => state === 'sending' || state === 'recorded')) return;
    await pause(100);
  }
}

async function look(references: readonly string[], { mock, outbox }: Scene) {
  const existing = new Map<string, number>();
  for (const { merchantPaymentReference: reference } of mock.payments.list()) {
    existing.set(reference, (existing.get(reference) ?? 0) + 1);
  }
  const states: Record<string, number> = {};
  const unresolved: string[] = [];
  const mistakes = [...existing]
    .filter(([, count]) => count > 1)
    .map(([reference, count]) => `${reference} has ${count} payments`);
  for (const reference of references) {
    const { state = 'nothing' } = (await outbox.get(reference)) ?? {};
    states[state] = (states[state] ?? 0) + 1;
    if (state === 'unresolved') unresolved.push(reference);
    if (!MAY_BE[state]?.includes(existing.has(reference))) {
      const exists = existing.has(reference) ? 'has' : 'does not have';
      mistakes.push(`${reference} is ${state}, and the service ${exists} it`);
    }
  }
  return { states, mistakes, unresolved, existing };
}

/** Whether the service may have a payment of a state; what is not named may not be at the end. */
const MAY_BE: Readonly<Record<string, readonly boolean[]>> = {
  created: [true],
  rejected: [false],
  unresolved: [true, false],
  // None of its callers has reached a process that lived.
  nothing: [false],
};

async function settleAll(mock: MockServer): Promise<void> {
  const deliveries = await Promise.all(
    mock.payments.list().map(({ referenceNumber }) => mock.setStatus(referenceNumber, 'paid')),
  );
  for (const delivery of deliveries) {
    while (['held', 'sending', 'retrying'].includes(delivery.state)) await pause(10);
  }
}

function toText(
  title: string,
  counts: Readonly<Record<string, number>>,
  mistakes: readonly string[],
): string {
  const width = Math.max(...Object.keys(counts).map(({ length }) => length));
  return [
    `Crash test of the ${title}`,
    ...Object.entries(counts).map(([name, count]) => `  ${name.padEnd(width)} ${count}`),
    ...mistakes.slice(0, 20).map((mistake) => `  ! ${mistake}`),
  ].join('\n');
}
