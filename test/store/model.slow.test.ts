import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionError, RequestError } from '../../src/errors.js';
import type { Backend } from '../../src/store/backend.js';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { StoreClient } from '../../src/store/options.js';
import type { StoredPayment } from '../../src/store/stored-payment.js';
import { collect } from '../contract/store/stage.js';
import { explore, type Turns } from './explore.js';
import { MEMORY, openStore } from './memory-engine.js';
import { paid } from './orders.js';
import { outcomeOf } from './outcome-of.js';
import { unusedClient } from './unused-client.js';

const REFERENCE = 'order-1';
const LEASE_MS = 1_000_000;
const TIMES = { leaseMs: LEASE_MS, requestLifetimeMs: LEASE_MS };
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
  /** Whether recover() looks an unresolved payment up at the service, at any later time. */
  readonly lookUp?: boolean;
}

/** One run: `turns` determines the order of its steps. */
async function run(
  { answers, callback, crash, people, lookUp }: Setting,
  turns: Turns,
): Promise<void> {
  let nowMs = 0;
  const shared = new MemoryBackend({ ...MEMORY, now: () => nowMs });
  const payments: string[] = [];
  const decide = shared.decide.bind(shared);
  shared.decide = async (...args) => {
    const decided = await decide(...args);
    if (decided.outcome === 'decided' && args[1].state !== 'created') counting = 0;
    return decided;
  };
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
  const storeOf = (actor: string) => {
    const client: StoreClient = { payments: { create: () => send(actor) as never } };
    const backend = inSteps(shared, () => turns.step(actor));
    return openStore(backend, { client, ...TIMES });
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

  const create = async (actor: string): Promise<StoredPayment | undefined> => {
    try {
      return await storeOf(actor).create(INPUT);
    } catch (error) {
      if (error instanceof RequestError) return undefined;
      throw error;
    }
  };
  const callBack = async () => {
    const store = storeOf('callback');
    await turns.stepWhen('callback', () => payments.length > 0);
    const change = { key: 'paid', payment: paid(REFERENCE, payments[0] ?? '') };
    const outcome = await outcomeOf(store, change, async ({ current, secondPayment }) => {
      expect({ current, secondPayment }).toStrictEqual({ current: true, secondPayment: false });
      await turns.step('callback');
    });
    expect(outcome).toBe('processed');
  };
  const lookAndDecide = async (actor: string) => {
    const store = openStore(shared, { client: unusedClient, ...TIMES });
    await turns.stepWhen(actor, () => isUnresolved);
    // The person reads the list once the lifetime of any request that has ended is over.
    if (isUnresolved) nowMs += LEASE_MS;
    const [item] = await collect(store.attention({ kinds: ['unresolved'] }));
    const [referenceNumber] = payments;
    await turns.step(actor);
    try {
      if (referenceNumber !== undefined) await store.markCreated(REFERENCE, { referenceNumber });
      else if (item?.kind === 'unresolved') await store.markNotCreated(item);
    } catch (error) {
      expect(error).toMatchObject({ code: 'STATE_CHANGED' });
    }
  };
  const recoverByLookUp = async () => {
    await turns.stepWhen('recovery', () => isUnresolved);
    // As for a person.
    if (isUnresolved) nowMs += LEASE_MS;
    await storeOf('recovery').recover({
      async lookUp() {
        const [referenceNumber] = payments;
        await turns.step('recovery');
        return referenceNumber === undefined ? 'not-created' : { referenceNumber };
      },
    });
  };
  const actors = [create('one'), create('other')];
  if (people)
    actors.push(
      lookAndDecide('person') as Promise<undefined>,
      lookAndDecide('second person') as Promise<undefined>,
    );
  if (callback) actors.push(callBack() as Promise<undefined>);
  if (lookUp) actors.push(recoverByLookUp() as Promise<undefined>);
  if (crash) {
    const recover = async () => {
      await turns.step('crash');
      turns.kill('one');
      // Any other sender is now late, like a process that was suspended for a while.
      nowMs += LEASE_MS;
      await storeOf('crash').recover();
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
const STEPS: readonly PropertyKey[] = ['claim', 'finish', 'settle', 'expire', 'process'];

/** A backend whose every method that changes something waits for its turn. */
function inSteps(backend: Backend<undefined>, step: () => Promise<void>): Backend<undefined> {
  return new Proxy(backend, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target);
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

const lookUps = decisions.map(
  ({ people: _, ...setting }): Setting => ({ ...setting, lookUp: true }),
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

  it.each(lookUps)('$answers.0, callback $callback, and recover looks it up', async (setting) => {
    const runs = await explore((turns) => run(setting, turns));
    expect(runs).toBeGreaterThan(1);
  });

  it.each(decisions)('$answers.0, callback $callback, and two people decide', async (setting) => {
    const runs = await explore((turns) => run(setting, turns));
    expect(runs).toBeGreaterThan(1);
  });
});
