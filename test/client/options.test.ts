import { MockAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RequestOptions } from '../../src/client/options.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import type { InvalidOptionError } from '../../src/errors.js';
import {
  apiKey,
  apiSecret,
  createClient,
  created,
  failureOf,
  order,
  refusalOf,
  startRawServer,
} from './raw-server.js';

const required = { baseUrl: 'https://payments.example', apiKey, apiSecret };

function refusalFromEnv(overrides: object): InvalidOptionError {
  try {
    PaymentClient.fromEnv(overrides, {});
  } catch (error) {
    return error as InvalidOptionError;
  }
  throw new Error('The options were accepted');
}

const numbers: readonly [string, unknown, string][] = [
  ['timeoutMs', 0, 'a whole number of milliseconds from 1 to 2147483647; received 0'],
  [
    'timeoutMs',
    2 ** 31,
    'a whole number of milliseconds from 1 to 2147483647; received 2147483648',
  ],
  ['timeoutMs', '30', 'received a string of 2 characters'],
  ['maxRetries', -1, 'a whole number of retries from 0; received -1'],
  ['maxRetries', Number.NaN, 'received NaN'],
  ['maxRetries', Number.POSITIVE_INFINITY, 'received Infinity'],
  ['maxResponseBytes', 0, 'a whole number of bytes from 1; received 0'],
  ['maxResponseBytes', 1.5, 'received 1.5'],
];

describe('a client', () => {
  it.each(numbers)('refuses for %s %s', (option, value, says) => {
    const error = refusalOf({ ...required, [option]: value });
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option });
    expect(error.message).toContain(`${option} must be a whole number of`);
    expect(error.message).toContain(says);
  });

  it.each([
    ['timeoutMs', 1],
    ['timeoutMs', 2 ** 31 - 1],
    ['maxRetries', 0],
    ['maxRetries', Number.MAX_SAFE_INTEGER],
    ['maxResponseBytes', 1],
    ['maxResponseBytes', Number.MAX_SAFE_INTEGER],
  ])('takes %s: %d, which is the end of the range', (option, value) => {
    expect(new PaymentClient({ ...required, [option]: value })).toBeInstanceOf(PaymentClient);
  });

  it.each<[string, unknown, string]>([
    ['dangerouslyAllowHttp', 'true', 'must be true or false; received a string of 4 characters'],
    ['dispatcher', {}, 'must be an undici Dispatcher (with dispatch); received an object'],
    ['fetch', {}, 'must be a function like globalThis.fetch; received an object'],
    ['logger', { debug() {}, info() {}, warn() {} }, 'must be a logger like console'],
  ])('refuses for %s what it is not', (option, value, says) => {
    const error = refusalOf({ ...required, [option]: value });
    expect(error.option).toBe(option);
    expect(error.message).toContain(`${option} ${says}`);
  });

  it.each([
    ['timeout', 'timeoutMs'],
    ['baseURL', 'baseUrl'],
  ])('refuses %s, which is not an option, and names %s', (unknown, known) => {
    for (const make of [refusalOf, refusalFromEnv]) {
      const error = make({ ...required, [unknown]: 1 });
      expect(error.option).toBe(unknown);
      expect(error.message).toBe(`${unknown} is not a known option; use ${known}`);
    }
  });

  it('refuses dispatcher and fetch together', async () => {
    const dispatcher = new MockAgent();
    onTestFinished(() => dispatcher.close());
    const error = refusalOf({ ...required, dispatcher, fetch: globalThis.fetch });
    expect(error.option).toBe('fetch');
    expect(error.message).toBe('fetch must not be combined with dispatcher; pass only one of them');
  });

  it.each([
    'http://payments.example',
    'http://pay.localhost',
    'http://localhost.',
    'http://127.0.0.1.nip.io',
  ])('refuses http: to another machine unless dangerouslyAllowHttp is true: %s', (address) => {
    const given = { ...required, baseUrl: address };
    for (const dangerouslyAllowHttp of [undefined, false]) {
      const error = refusalOf({ ...given, dangerouslyAllowHttp });
      expect(error.option).toBe('baseUrl');
      expect(error.message).toContain('http: would send the API secret in clear text');
    }
    const client = new PaymentClient({ ...given, dangerouslyAllowHttp: true });
    expect(client.toJSON()).toEqual({ baseUrl: address });
  });

  it.each(['http://localhost:1', 'http://127.0.0.1', 'http://[::1]', 'http://[::ffff:7f00:1]'])(
    'takes http: to this machine: %s',
    (address) => {
      const client = new PaymentClient({ ...required, baseUrl: address });
      expect(client.toJSON()).toEqual({ baseUrl: address });
    },
  );

  it.each([[undefined], ['https://payments.example']])('refuses %s for its options', (options) => {
    const error = refusalOf(options);
    expect(error.option).toBe('options');
    expect(error.message).toContain('must be an object with baseUrl, apiKey and apiSecret');
  });

  it.each([[undefined], ['']])(
    'says where the address comes from when baseUrl is %j',
    (baseUrl) => {
      const error = refusalOf({ ...required, baseUrl });
      expect(error.option).toBe('baseUrl');
      expect(error.message).toContain("the service's address");
      expect(error.message).toContain('MERCHANT_PAYMENTS_BASE_URL');
    },
  );

  it('takes undefined for an option as if it were absent', () => {
    const absent = {
      timeoutMs: undefined,
      maxRetries: undefined,
      idempotency: undefined,
      maxResponseBytes: undefined,
      dispatcher: undefined,
      fetch: undefined,
      logger: undefined,
      dangerouslyAllowHttp: undefined,
    };
    expect(new PaymentClient({ ...required, ...absent })).toBeInstanceOf(PaymentClient);
  });

  it('does not write to the options it is given, nor read them again', async () => {
    const server = await startRawServer({ answer: () => created });
    const options = { baseUrl: server.url, apiKey, apiSecret };
    const client = new PaymentClient(Object.freeze(options));
    onTestFinished(() => client.close());
    await client.payments.create(order);
    expect(options).toEqual({ baseUrl: server.url, apiKey, apiSecret });
  });
});

describe('a call', () => {
  it.each<[RequestOptions, string, string]>([
    [{ timeoutMs: 0 }, 'timeoutMs', 'received 0'],
    [{ maxRetries: Number.NaN }, 'maxRetries', 'must be a whole number of retries from 0'],
    [{ signal: {} as AbortSignal }, 'signal', 'must be an AbortSignal (with addEventListener, '],
    [{ signal: new AbortController() as never }, 'signal', 'received an object'],
    [{ responseSchema: { '~standard': {} } as never }, 'responseSchema', 'a Standard Schema'],
    [{ timeout: 5 } as RequestOptions, 'timeout', 'use timeoutMs'],
    [null as never, 'options', 'must be an object with the options of the call'],
    ['fast' as never, 'options', 'must be an object with the options of the call'],
  ])('refuses the options %o, and nothing is sent', async (options, option, says) => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    for (const call of [
      client.payments.create(order, options),
      client.request({ method: 'GET', path: '/x' }, options),
    ]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({ code: 'INVALID_OPTION', option, requestOutcome: 'not-sent' });
      expect(error.safeToRetry).toBe(false);
      expect(error.message).toContain(says);
    }
    expect(server.connections).toHaveLength(0);
  });

  it('refuses extraBody for request(), which takes a body', async () => {
    const client = createClient('https://payments.invalid');
    const call = client.request({ method: 'POST', path: '/x' }, { extraBody: { a: 1 } });
    const error = await failureOf(call);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'extraBody' });
    expect(error).toMatchObject({ requestOutcome: 'not-sent' });
    expect(error.message).toContain('put the fields into the body of the request');
  });
});
