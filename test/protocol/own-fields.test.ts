import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { verifyCallback } from '../../src/callback/verify.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { createMockService } from '../../src/mock-server/service.js';
import { optional, resolveOptions, wholeNumber } from '../../src/protocol/options.js';
import { fieldOf } from '../../src/protocol/own-fields.js';
import { signCallback } from '../../src/testing/sign-callback.js';
import { now, SECRET, sampleRecord, sampleRequest } from '../callback/sample-callback.js';
import { polluted } from './pollution.js';

const rules = { limit: optional(wholeNumber({ max: 9 })) };
const read = (options: unknown) => resolveOptions(options, rules).limit;

class Base {
  get limit() {
    return 5;
  }
}
class Derived extends Base {}

describe('an option is read', () => {
  it.each<[string, () => unknown, number | undefined]>([
    ['of a plain object', () => ({ limit: 5 }), 5],
    ['of an object without a prototype', () => Object.assign(Object.create(null), { limit: 5 }), 5],
    ['that is not enumerable', () => Object.defineProperty({}, 'limit', { value: 5 }), 5],
    ['from the accessor of a class', () => new Base(), 5],
    ['from the class below', () => new Derived(), 5],
    ['from an object that is the prototype', () => Object.create({ limit: 5 }), 5],
    [
      'from a prototype that has none',
      () => Object.create(Object.assign(Object.create(null), { limit: 5 })),
      5,
    ],
    ['from a Proxy that answers', () => new Proxy(Object.create(null), { get: () => 5 }), 5],
    ['but not from Object.prototype', () => ({}), undefined],
    ['but not from Object.prototype, below a class', () => new (class {})(), undefined],
    ['but not from Object.prototype, by a Proxy', () => new Proxy({}, {}), undefined],
  ])('%s', (_what, create, expected) => {
    const options = create();
    if (expected !== undefined) expect(read(options)).toBe(expected);
    expect(polluted('limit', 7, () => read(options))).toBe(expected);
  });

  it('but not from the Object.prototype of another realm', () => {
    const options = runInNewContext('Object.prototype.limit = 7; ({})');
    expect(options.limit).toBe(7);
    expect(read(options)).toBeUndefined();
  });

  it('once, and not at all from a getter of Object.prototype', () => {
    const getter = vi.fn(() => 5);
    expect(read(Object.defineProperty({}, 'limit', { get: getter }))).toBe(5);
    expect(getter).toHaveBeenCalledTimes(1);
    Object.defineProperty(Object.prototype, 'limit', { get: getter, configurable: true });
    try {
      expect(read({})).toBeUndefined();
    } finally {
      Reflect.deleteProperty(Object.prototype, 'limit');
    }
    expect(getter).toHaveBeenCalledTimes(1);
  });

  it('though Object.prototype has a field of that name that can not be written', () => {
    Object.defineProperty(Object.prototype, 'limit', { value: 7, configurable: true });
    try {
      expect(fieldOf(resolveOptions({ limit: 5 }, rules), 'limit')).toBe(5);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'limit');
    }
  });
});

/** Runs with an entry on every list that has none of its own there. */
function withEntry<Result>(value: unknown, run: () => Result): Result {
  Reflect.set(Array.prototype, 0, value);
  try {
    return run();
  } finally {
    Reflect.deleteProperty(Array.prototype, 0);
  }
}

it('a hole in a list is no entry of Array.prototype', () => {
  // biome-ignore lint/suspicious/noSparseArray: the hole is the case
  const holes = [, 'another-secret'] as string[];
  const request = sampleRequest();
  const verify = () => verifyCallback(request, { signingSecret: holes, now });
  expect(() => withEntry(SECRET, verify)).toThrow('signingSecret[0] is missing');
  const start = () => createMockService({ retryScheduleMs: new Array(1) });
  expect(() => withEntry(5, start)).toThrow('retryScheduleMs[0] is missing');
});

describe('headers of a callback are not those of Object.prototype', () => {
  const { rawBody, headers } = sampleRequest();
  const { 'x-signature': signature, ...others } = headers;

  it.each(['x-signature', 'X-Signature', 'X-SIGNATURE'])('%s', (name) => {
    const verify = (given: object) => () =>
      verifyCallback({ rawBody, headers: given as never }, { signingSecret: SECRET, now });
    expect(() => polluted(name, signature, verify(others))).toThrow(
      'X-Signature header is missing',
    );
    expect(polluted(name, 'planted', verify(headers)).payment).toEqual(sampleRecord());
    expect(polluted(name, signature, verify(new Map(Object.entries(headers)))).secretIndex).toBe(0);
  });

  it('nor is a plain object a Headers or a list, since Object.prototype has their methods', () => {
    const verify = () => verifyCallback({ rawBody, headers }, { signingSecret: SECRET, now });
    const twice = () => polluted('append', () => 'planted', verify);
    expect(polluted('get', () => 'planted', twice).secretIndex).toBe(0);
    expect(polluted(Symbol.iterator, () => [].values(), verify).secretIndex).toBe(0);
  });
});

describe('a toJSON of a prototype', () => {
  const planted = () => 'planted';
  const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };

  /** Runs while lists and objects have a toJSON. */
  const withToJson = <Result>(run: () => Result): Result => {
    Reflect.set(Array.prototype, 'toJSON', planted);
    try {
      return polluted('toJSON', planted, run);
    } finally {
      Reflect.deleteProperty(Array.prototype, 'toJSON');
    }
  };

  it('does not write a payment', async () => {
    const bodies: unknown[] = [];
    const response = new Response(null, { status: 204 });
    const client = new PaymentClient({
      baseUrl: 'https://pay.example',
      apiKey: 'key-1',
      apiSecret: 'secret-1',
      fetch: async (_url, init) => {
        bodies.push(init?.body);
        return response;
      },
    });
    const call = withToJson(() =>
      client.payments.create(order, { extraBody: { lines: [{ sku: 'a' }] } }),
    );
    await call;
    expect(bodies).toEqual([
      '{"lines":[{"sku":"a"}],"merchantPaymentReference":"order-1","amount":2500,"currency":"EUR"}',
    ]);
  });

  it('does not write a signed callback', () => {
    const payment = sampleRecord();
    const { rawBody } = withToJson(() => signCallback({ payment, signingSecret: SECRET }));
    expect(JSON.parse(new TextDecoder().decode(rawBody))).toEqual(payment);
  });
});
