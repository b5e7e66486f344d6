import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionError, RequestError } from '../../src/errors.js';
import { Engine } from '../../src/store/engine.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { OutboxPayment } from '../../src/store/outbox.js';
import type { OutboxStore } from '../../src/store/store.js';
import { PREPARE_CREATION } from '../../src/protocol/prepared-creation.js';
import { explore, type Turns } from './explore.js';

const REFERENCE = 'order-1';
const LEASE_MS = 1_000_000;
const INPUT = { merchantPaymentReference: REFERENCE, amount: 1, currency: 'EUR' };

/** What becomes of a request: whether a payment is created, and what the sender learns. */
const ANSWERS = {
  created: { creates: true, outcome: undefined },
  'answer lost': { creates: true, outcome: 'unknown' },
  'lost before': { creates: false, outcome: 'unknown' },
  refused: { creates: false, outcome: 'not-sent' },
  rejected: { creates: false, outcome: 'rejected' },
} as const;
type Answer = keyof typeof ANSWERS;

interface Setting {
  /** Of the first request and of those after it. */
  readonly answers: readonly [Answer, Answer];
  /** Whether a callback comes for the first payment that is created. */
  readonly callback: boolean;
  /** Whether the first sender is killed at one of its steps. */
  readonly crash: boolean;
  /** Whether two people look an unresolved payment up at the service, and decide at any later time. */
  readonly people?: boolean;
}

/** One run: `turns` determines the order of its steps. */
async function run({ answers, callback, crash, people }: Setting, turns: Turns): Promise<void> {
  let nowMs = 0;
  const shared = new MemoryStore({ maxEntries: 10, now: () => nowMs });
  const payments: string[] = [];
  let requests = 0;
  /** How many requests went out whose outcome was unknown or accepted. */
  let counting = 0;

  const send = async (actor: string) => {
    await turns.step(actor);
    const { creates, outcome } = ANSWERS[answers[Math.min(requests, 1)] as Answer];
    requests += 1;
    expect(counting, 'nothing is sent after an accepted or unknown').toBe(0);
    if (outcome === undefined || outcome === 'unknown') counting += 1;
    const referenceNumber = `payment-${payments.length + 1}`;
    if (creates) payments.push(referenceNumber);
    await turns.step(actor);
    if (outcome === undefined) return { payment: { referenceNumber, status: 'pending' } };
    throw new ConnectionError('as this run wants it', { requestOutcome: outcome });
  };
  const outboxOf = (actor: string) => {
    const client = {
      payments: { create: () => send(actor) },
      [PREPARE_CREATION]: () => ({
        body: JSON.stringify(INPUT),
        timeoutMs: 30,
        retryUnknownOutcome: false,
        send: () => send(actor),
      }),
    };
    const store = inSteps(shared, () => turns.step(actor));
    return new Engine(store, { client: client as never, leaseMs: LEASE_MS });
  };

  const isSettled = async () => {
    const stored = await shared.read(REFERENCE);
    return stored?.state === 'created' && stored.payment?.includes('"paid"') === true;
  };
  let wasSettled = false;
  let isUnresolved = false;
  turns.afterEach(async () => {
    isUnresolved = (await shared.read(REFERENCE))?.state === 'unresolved';
    if (wasSettled) expect(await isSettled(), 'created once a callback has come').toBe(true);
    else wasSettled = await isSettled();
  });

  const create = async (actor: string): Promise<OutboxPayment | undefined> => {
    try {
      return await outboxOf(actor).create(INPUT);
    } catch (error) {
      if (error instanceof RequestError) return undefined;
      throw error;
    }
  };
  const settle = async () => {
    const outbox = outboxOf('callback');
    await turns.stepWhen('callback', () => payments.length > 0);
    const [referenceNumber = ''] = payments;
    const record = { referenceNumber, merchantPaymentReference: REFERENCE, status: 'paid' };
    const outcome = await outbox.settle(
      { ...record, providerReference: '', createdAt: '', updatedAt: '2026-01-01T00:00:00Z' },
      { tx: undefined },
    );
    expect(['settled', 'known']).toContain(outcome);
  };
  const decide = async (actor: string) => {
    const outbox = new Engine(shared, {
      client: { [PREPARE_CREATION]: () => ({}) } as never,
      leaseMs: LEASE_MS,
    });
    await turns.stepWhen(actor, () => isUnresolved);
    const seen = { attempts: (await shared.read(REFERENCE))?.attempts ?? 0 };
    const [referenceNumber] = payments;
    await turns.step(actor);
    // The person took longer than the lease of any attempt that has ended.
    if (isUnresolved) nowMs += LEASE_MS;
    try {
      if (referenceNumber !== undefined) {
        await outbox.resolve(REFERENCE, { created: { referenceNumber } }, seen);
      } else {
        await outbox.resolve(REFERENCE, 'not-created', seen);
        counting = 0;
      }
    } catch (error) {
      expect(error).toMatchObject({ code: 'STATE_CHANGED' });
    }
  };
  const actors = [create('one'), create('other')];
  if (people)
    actors.push(
      decide('person') as Promise<undefined>,
      decide('second person') as Promise<undefined>,
    );
  if (callback) actors.push(settle() as Promise<undefined>);
  if (crash) {
    const recover = async () => {
      await turns.step('crash');
      turns.kill('one');
      // Any other sender is now late, like a process that was suspended for a while.
      nowMs += LEASE_MS;
      await outboxOf('crash').recover();
    };
    actors.push(recover() as Promise<undefined>);
  }
  await turns.play(actors);

  nowMs += 2 * LEASE_MS;
  await shared.expire();
  const end = await shared.read(REFERENCE);
  expect(end?.state ?? 'nothing', 'nothing stays sending').not.toBe('sending');
  expect(payments.length, 'one payment at most').toBeLessThanOrEqual(1);
  if (payments.length > 0) {
    expect(['created', 'unresolved'], 'what exists is known or listed').toContain(end?.state);
  }
  if (callback && payments.length > 0) expect(await isSettled()).toBe(true);
}

// What only reads is taken with the step before it.
const STEPS: readonly PropertyKey[] = ['claim', 'finish', 'settle', 'expire'];

/** A store whose every method that changes something waits for its turn. */
function inSteps(store: OutboxStore, step: () => Promise<void>): OutboxStore {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name).bind(target);
      if (!STEPS.includes(name)) return method;
      return async (...args: unknown[]) => {
        await step();
        return method(...args);
      };
    },
  });
}

const names = Object.keys(ANSWERS) as Answer[];
const settings = names.flatMap((first) =>
  [true, false].flatMap((callback) =>
    [true, false].map((crash): Setting => ({ answers: [first, 'created'], callback, crash })),
  ),
);

const decisions = (['lost before', 'answer lost'] as const).flatMap((first) =>
  [true, false].map(
    (callback): Setting => ({
      answers: [first, 'answer lost'],
      callback,
      crash: false,
      people: true,
    }),
  ),
);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('two senders of one payment, in every order of their steps', () => {
  it.each(settings)('$answers.0, callback $callback, crash $crash', async (setting) => {
    const runs = await explore((turns) => run(setting, turns));
    expect(runs).toBeGreaterThan(1);
  });

  it.each(decisions)('$answers.0, callback $callback, and two people decide', async (setting) => {
    const runs = await explore((turns) => run(setting, turns));
    expect(runs).toBeGreaterThan(1);
  });
});
