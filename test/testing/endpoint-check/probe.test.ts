import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import type {
  CheckCallbackEndpointOptions,
  CheckedPayment,
} from '../../../src/testing/endpoint-check/options.js';
import { listen, SECRET, Shop } from './shop.js';

const EFFECT_CHECKS = [
  'valid-effect',
  'refused-effect',
  'unknown-status-effect',
  'duplicate-effect',
  'simultaneous-effect',
  'resigned-retry-effect',
  'second-change-effect',
  'older-change-effect',
  'late-paid-effect',
  'second-payment-effect',
];

async function checkWith(
  probe: Partial<CheckCallbackEndpointOptions>,
  listener = new Shop().listener,
) {
  const { checks } = await checkCallbackEndpoint(await listen(listener), {
    signingSecret: SECRET,
    ...probe,
  });
  return checks.filter(({ outcome }) => outcome === 'failed');
}

const throwing = (error: unknown) => () => {
  throw error;
};

// What a user's JavaScript may return.
const returning = (value: unknown) => () => value as number;

describe.concurrent('a probe that is a function makes the effect checks fail, and no other, when it', () => {
  it.each([
    ['throws', throwing(new RangeError('x')), /^countEffects threw RangeError, so .* not known/],
    [
      'throws an error with a code',
      throwing(Object.assign(new Error('x'), { code: '42P01' })),
      /^countEffects threw Error \(42P01\)/,
    ],
    ['throws nothing', throwing(undefined), /^countEffects threw nothing/],
    ['rejects', () => Promise.reject(new Error('x')), /^countEffects threw Error/],
    ['tells a fraction', returning(1.5), /whole number of effects from 0, received 1.5/],
    ['tells less than nothing', returning(-1), /received -1/],
    ['tells text', returning('1'), /received a string of 1 characters/],
    ['tells nothing', returning(undefined), /received nothing/],
    ['tells null', returning(null), /received null/],
    ['tells no effects', returning({ status: 'paid' }), /received nothing/],
    [
      'tells an empty status',
      returning({ effects: 1, status: '' }),
      /a status that is a string and not empty, received an empty string/,
    ],
  ])('%s', async (_, countEffects, says) => {
    const failed = await checkWith({ countEffects });
    expect(failed.map(({ id }) => id)).toEqual(EFFECT_CHECKS);
    for (const { detail } of failed) expect(detail).toMatch(says);
  });

  it('hangs, and is then not waited for again', async () => {
    let calls = 0;
    const failed = await checkWith({
      timeoutMs: 4_000,
      countEffects: () => {
        calls += 1;
        return new Promise<number>(() => undefined);
      },
    });
    expect(failed.map(({ id }) => id)).toEqual(EFFECT_CHECKS);
    expect(failed[0]?.detail).toMatch(/^countEffects gave no answer within 4000 ms/);
    expect(calls).toBe(1);
  });
});

describe.concurrent('a probe that is a URL makes the effect checks fail, and no other, when it', () => {
  const text =
    (body: string, status = 200): RequestListener =>
    (_request, response) =>
      void response.writeHead(status).end(body);

  it.each<[string, RequestListener, RegExp]>([
    ['answers 404', text('1', 404), /^countEffects must answer 200, but answered 404/],
    ['answers 204', text('', 204), /but answered 204/],
    [
      'redirects',
      (_request, response) => void response.writeHead(302, { location: '/' }).end(),
      /but answered 302/,
    ],
    [
      'answers with no JSON',
      text('<p>1</p>'),
      /^countEffects must answer with JSON of less than 4096/,
    ],
    ['answers with too much', text(JSON.stringify({ effects: 1, x: 'x'.repeat(5_000) })), /4096/],
    ['answers with another number', text('-1'), /^countEffects must return a whole number/],
    ['hangs up', (request) => void request.socket.destroy(), /gave no answer \(ECONNRESET\)/],
  ])('%s', async (_, listener, says) => {
    const failed = await checkWith({ countEffects: await listen(listener) });
    expect(failed.map(({ id }) => id)).toEqual(EFFECT_CHECKS);
    for (const { detail } of failed) expect(detail).toMatch(says);
  });

  it('hangs', async () => {
    let calls = 0;
    const countEffects = await listen(() => {
      calls += 1;
    });
    const failed = await checkWith({ countEffects: new URL(countEffects), timeoutMs: 4_000 });
    expect(failed.map(({ id }) => id)).toEqual(EFFECT_CHECKS);
    expect(failed[0]?.detail).toMatch(/^countEffects gave no answer within 4000 ms/);
    expect(calls).toBe(1);
  });
});

it('is asked with both references of the payment', async () => {
  const asked: unknown[] = [];
  await checkWith({
    merchantPaymentReference: 'order-1',
    countEffects: (payment) => asked.push(payment),
  });
  expect(asked[0]).toEqual({
    referenceNumber: expect.stringMatching(/^[\da-f-]{36}$/),
    merchantPaymentReference: 'order-1',
  });
});

it.concurrent('may count each payment once, when it tells the status', async () => {
  const { listener, orders } = new Shop();
  const report = await checkCallbackEndpoint(await listen(listener), {
    signingSecret: SECRET,
    countEffects: (payment) => ({
      effects: Math.min(orders.countOf(payment), 1),
      status: orders.statusOf(payment),
    }),
  });
  expect(report.counts.failed).toBe(0);
  expect(report.checks).toContainEqual(
    expect.objectContaining({
      id: 'late-paid-effect',
      outcome: 'skipped',
      detail: 'not judged: what countEffects counts did not rise with paid',
    }),
  );
});

it.concurrent('may tell no status: what an older change undoes shows in the number', async () => {
  const { listener, orders } = new (class extends Shop {
    protected override isOlder(): boolean {
      return false;
    }
  })();
  const countPaid = (payment: CheckedPayment) => (orders.statusOf(payment) === 'paid' ? 1 : 0);
  const failed = await checkWith({ countEffects: countPaid }, listener);
  expect(failed.map(({ id, detail }) => [id, detail])).toEqual([
    ['older-change-effect', 'countEffects returned 1 effect before, and 0 effects after it'],
  ]);
});
