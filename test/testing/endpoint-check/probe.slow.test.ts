import type { RequestListener } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import type {
  CheckCallbackEndpointOptions,
  CheckedPayment,
} from '../../../src/testing/endpoint-check/options.js';
import { changed, check, clock, listen, SECRET, Shop, useManualClock } from './shop.js';

useManualClock();

async function checkWith(
  probe: Partial<CheckCallbackEndpointOptions>,
  listener = new Shop().listener,
) {
  const { checks } = await check(await listen(listener), {
    signingSecret: SECRET,
    ...probe,
  });
  return checks.filter(({ outcome }) => outcome === 'failed');
}

/** The probe is the one failure, and why effects are skipped: what HTTP shows is judged all the same. */
async function expectOneCause(probe: Partial<CheckCallbackEndpointOptions>, says: RegExp) {
  const report = await check(await listen(new Shop().listener), {
    signingSecret: SECRET,
    ...probe,
  });
  const failed = report.checks.filter(({ outcome }) => outcome === 'failed');
  expect(failed.map(({ id }) => id)).toEqual(['valid-effect']);
  expect(report.cause).toBe('valid-effect');
  expect(failed[0]?.detail).toMatch(says);
  expect(failed[0]?.remedy).toMatch(/^Call countEffects for a made-up payment/);
  for (const { id, outcome, detail } of report.checks) {
    if (id === 'valid-effect' || id === 'overtaking') continue;
    expect([id, outcome]).toEqual([id, id.endsWith('-effect') ? 'skipped' : 'passed']);
    if (outcome === 'skipped')
      expect(detail).toContain('because "valid-effect" failed: countEffects');
  }
}

const throwing = (error: unknown) => () => {
  throw error;
};

// What a user's JavaScript may return.
const returning = (value: unknown) => () => value as number;

describe('a probe that is a function is the one cause when it', () => {
  it.each([
    ['throws', throwing(new RangeError('x')), /^countEffects threw an error \(RangeError\)$/],
    ['rejects', () => Promise.reject(new Error('x')), /^countEffects threw an error \(Error\)/],
    ['returns a fraction', returning(1.5), /whole number of effects from 0, received 1.5/],
    ['returns text', returning('1'), /received a string of 1 character/],
    ['returns nothing', returning(undefined), /received nothing/],
    ['returns no effects', returning({ status: 'paid' }), /received nothing/],
    [
      'returns an empty status',
      returning({ effects: 1, status: '' }),
      /a status that is a string and not empty, received an empty string/,
    ],
  ])('%s', async (_, countEffects, says) => {
    await expectOneCause({ countEffects }, says);
  });
});

describe('a probe that is a URL is the one cause when it', () => {
  const text =
    (body: string, status = 200): RequestListener =>
    (_request, response) =>
      void response.writeHead(status).end(body);

  it.each<[string, RequestListener, RegExp]>([
    ['answers 404', text('1', 404), /^countEffects must answer 200, but answered 404/],
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
    ['hangs up', (request) => void request.socket.destroy(), /did not answer \(ECONNRESET\)/],
  ])('%s', async (_, listener, says) => {
    await expectOneCause({ countEffects: await listen(listener) }, says);
  });
});

it('that hangs is the one cause, and is not waited for again', async () => {
  const hang = vi.fn(() => {
    void clock.pause(5_000);
    return new Promise<number>(() => undefined);
  });
  const says = /^countEffects did not answer within 5000 ms/;
  for (const countEffects of [hang, new URL(await listen(hang))]) {
    hang.mockClear();
    await expectOneCause({ timeoutMs: 5_000, countEffects }, says);
    expect(hang).toHaveBeenCalledOnce();
  }
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

it('may return null as the status of an order without a callback', async () => {
  const { listener, orders } = new Shop();
  const asked: URLSearchParams[] = [];
  const effectsOf: RequestListener = (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://shop');
    asked.push(searchParams);
    const payment = {
      referenceNumber: searchParams.get('referenceNumber') ?? '',
      merchantPaymentReference: searchParams.get('merchantPaymentReference') ?? '',
    };
    const status = orders.statusOf(payment) ?? null;
    response.end(JSON.stringify({ effects: orders.countOf(payment), status }));
  };
  const countEffects = `${await listen(effectsOf)}?token=1`;
  expect(await checkWith({ countEffects }, listener)).toEqual([]);
  expect(asked[0]?.get('token')).toBe('1');
});

it('gets the advice to use new orders when it counted effects before the first callback', async () => {
  const { listener, orders } = new Shop();
  const countEffects = (payment: CheckedPayment) => Math.max(1, orders.countOf(payment));
  const failed = await checkWith({ countEffects }, listener);
  expect(failed.length).toBeGreaterThan(0);
  for (const { detail, remedy } of failed) {
    expect(detail).toMatch(
      /^countEffects returned 0 effects for .+, beyond the 1 from before its first callback, but 1 was expected/,
    );
    expect(remedy).toContain('give each run new orders');
  }
});

it('may return no status: what an older change undoes shows in the number', async () => {
  const { listener, orders } = changed(() => ({ isOlder: () => false }));
  const countPaid = (payment: CheckedPayment) => (orders.statusOf(payment) === 'paid' ? 1 : 0);
  const failed = await checkWith({ countEffects: countPaid }, listener);
  expect(failed.map(({ id, detail }) => [id, detail])).toEqual([
    [
      'older-change-effect',
      'countEffects returned 1 effect after paid alone, and 0 effects after paid and an older change',
    ],
  ]);
});
