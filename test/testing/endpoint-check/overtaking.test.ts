import { describe, expect, it } from 'vitest';
import { RetryLaterError } from '../../../src/errors.js';
import { callbackHandler } from '../../../src/node/callback-handler.js';
import { memoryStore } from '../../../src/store/memory.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';
import type { EndpointCheckId } from '../../../src/testing/endpoint-check/report.js';
import { check, clock, listen, Orders, SECRET, useManualClock } from './shop.js';
import { StrictShop } from './strict-shop.js';

useManualClock();

const IDS: readonly EndpointCheckId[] = [
  'overtaking',
  'overtaking-redelivery',
  'late-paid-effect',
  'overtaking-effect',
];

/** What the checks of overtaking and of a late `paid` found, and whether nothing failed. */
async function judge(url: string, options: Partial<CheckCallbackEndpointOptions>) {
  const { checks, passed } = await check(url, {
    signingSecret: SECRET,
    effectsWithinMs: 300,
    ...options,
  });
  const found = checks.filter(({ id }) => IDS.includes(id));
  return { passed, found, outcomes: found.map(({ outcome }) => outcome) };
}

/** A shop on callbackHandler whose orders are stored by the check. */
function createShop(
  onMissing: () => void,
  { shipsOlder = true }: { shipsOlder?: boolean } = {},
): {
  listener: ReturnType<typeof callbackHandler>;
  options: Partial<CheckCallbackEndpointOptions>;
} {
  const orders = new Orders();
  const stored = new Set<string>();
  let made = 0;
  const listener = callbackHandler({
    signingSecret: SECRET,
    now: () => clock.now(),
    store: memoryStore(),
    onPayment({ payment }, { current }) {
      if (!stored.has(payment.merchantPaymentReference)) return onMissing();
      if (payment.status === 'paid' && (current || shipsOlder)) orders.count(payment);
      if (current) orders.setStatus(payment);
    },
    onRejected: () => undefined,
    onError: () => undefined,
  });
  const options = {
    merchantPaymentReference: () => {
      made += 1;
      stored.add(`order-${made}`);
      return `order-${made}`;
    },
    overtaking: ({ merchantPaymentReference }: { merchantPaymentReference: string }) =>
      void stored.add(merchantPaymentReference),
    countEffects: (payment: Parameters<Orders['countOf']>[0]) => ({
      effects: orders.countOf(payment),
      status: orders.statusOf(payment),
    }),
  };
  return { listener, options };
}

describe('an endpoint on callbackHandler', () => {
  it('that throws RetryLaterError passes everything, with nothing skipped', async () => {
    const { listener, options } = createShop(() => {
      throw new RetryLaterError('order not stored yet');
    });
    const { passed, found, outcomes } = await judge(await listen(listener), options);
    expect({ passed, outcomes }).toEqual({ passed: true, outcomes: IDS.map(() => 'passed') });
    expect(found[0]).toMatchObject({ status: 503 });
  });

  it('that does not check how many rows its UPDATE changed fails, with the remedy', async () => {
    const { listener, options } = createShop(() => undefined);
    const { found, outcomes } = await judge(await listen(listener), options);
    expect(outcomes).toEqual(['failed', 'skipped', 'passed', 'skipped']);
    expect(found[0]).toMatchObject({
      status: 200,
      detail:
        'a callback whose order is not stored: the endpoint answered 200, so the service does not send it again',
      remedy: expect.stringContaining('RetryLaterError'),
    });
  });

  it('that ships only what is current fails, with the remedy', async () => {
    const { listener, options } = createShop(
      () => {
        throw new RetryLaterError();
      },
      { shipsOlder: false },
    );
    const { found, outcomes } = await judge(await listen(listener), options);
    expect(outcomes).toEqual(['passed', 'passed', 'failed', 'passed']);
    expect(found[2]).toMatchObject({
      detail:
        'countEffects returned 0 effects and status "check_unknown_status" for paid after a newer change, but 1 was expected, as for changes in order',
      remedy: expect.stringMatching(
        /shipped_at IS NULL.*only the status waits for context\.current to be true/,
      ),
    });
  });
});

it('passes the shop of the guides, which ships each order once and is counted by order', async () => {
  const orders = new Map<string, string>();
  const shipments = new Set<string>();
  let made = 0;
  const listener = callbackHandler({
    signingSecret: SECRET,
    now: () => clock.now(),
    store: memoryStore(),
    onPayment({ payment: { merchantPaymentReference: reference, status } }, { current }) {
      if (!orders.has(reference)) throw new RetryLaterError('order not stored yet');
      if (current) orders.set(reference, status);
      if (status === 'paid') shipments.add(reference);
    },
    onRejected: () => undefined,
  });
  const { checks } = await check(await listen(listener), {
    signingSecret: SECRET,
    merchantPaymentReference() {
      made += 1;
      orders.set(`order-${made}`, 'new');
      return `order-${made}`;
    },
    overtaking: ({ merchantPaymentReference }) => void orders.set(merchantPaymentReference, 'new'),
    countEffects: ({ merchantPaymentReference: reference }) => ({
      effects: shipments.has(reference) ? 1 : 0,
      status: orders.get(reference),
    }),
  });
  const rest = checks.filter(({ outcome }) => outcome !== 'passed');
  expect(rest.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['second-payment-effect', 'skipped'],
  ]);
});

describe('the option overtaking', () => {
  it('passes a correct endpoint written by hand', async () => {
    const { listener, orders, options } = new StrictShop();
    const { passed, outcomes } = await judge(await listen(listener), {
      ...options,
      countEffects: (payment) => orders.countOf(payment),
    });
    expect({ passed, outcomes }).toEqual({ passed: true, outcomes: IDS.map(() => 'passed') });
  });

  it('counts a 404 as a refusal too: the service retries', async () => {
    const shop = new (class extends StrictShop {
      protected override async process(...args: Parameters<StrictShop['process']>) {
        return this.isStored(args[0]) ? super.process(...args) : 404;
      }
    })();
    const { outcomes } = await judge(await listen(shop.listener), shop.options);
    expect(outcomes.slice(0, 2)).toEqual(['passed', 'passed']);
  });

  it('true stores no order, and judges only the answer', async () => {
    const { listener, orders, options } = new StrictShop();
    const { found, outcomes } = await judge(await listen(listener), {
      ...options,
      overtaking: true,
      countEffects: (payment) => orders.countOf(payment),
    });
    expect(outcomes).toEqual(['passed', 'skipped', 'passed', 'passed']);
    expect(found[1]?.detail).toBe(
      'not tried: it needs a function that stores the order, as the option overtaking of checkCallbackEndpoint',
    );
    // The command line would add "--overtaking", which was given.
    expect(found[1]).not.toHaveProperty('option');
  });

  it.each([
    [
      () => {
        throw new TypeError(`no ${SECRET}`);
      },
      'overtaking threw an error (TypeError)',
    ],
    [
      () => {
        void clock.pause(5_000, undefined);
        return new Promise<void>(() => undefined);
      },
      'overtaking did not answer within 5000 ms',
    ],
  ])('fails one check when it stores no order: %s', async (overtaking, detail) => {
    const { listener, options } = new StrictShop();
    const { found, outcomes } = await judge(await listen(listener), {
      ...options,
      overtaking,
      timeoutMs: 5_000,
    });
    expect(outcomes.slice(0, 2)).toEqual(['passed', 'failed']);
    expect(found[1]?.detail).toBe(detail);
    expect(found[3]?.detail).toBe(`not tried, because "overtaking-redelivery" failed: ${detail}`);
  });
});
