import { inspect } from 'node:util';
import { MockAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PaymentClientOptions, RequestOptions } from '../../src/client/options.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { InvalidOptionError } from '../../src/errors.js';
import {
  apiKey,
  apiSecret,
  createClient,
  created,
  failureOf,
  order,
  startRawServer,
} from './raw-server.js';

const required = { baseUrl: 'https://payments.example', apiKey, apiSecret };

function refusalOf(options: unknown): InvalidOptionError {
  try {
    new PaymentClient(options as PaymentClientOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(inspect(error, { showHidden: true })).not.toContain(apiSecret);
    return error as InvalidOptionError;
  }
  throw new Error('The options were accepted');
}

function refusalFromEnv(overrides: object): InvalidOptionError {
  try {
    PaymentClient.fromEnv(overrides, {});
  } catch (error) {
    return error as InvalidOptionError;
  }
  throw new Error('The options were accepted');
}

const notWhole: readonly [unknown, string][] = [
  [Number.NaN, 'NaN'],
  [-1, '-1'],
  [1.5, '1.5'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [Number.NEGATIVE_INFINITY, '-Infinity'],
  [2 ** 53, '9007199254740992'],
  ['30', 'a string of 2 characters'],
  [null, 'null'],
  [30n, 'a bigint'],
  [true, 'a boolean'],
  [{}, 'an object'],
];

const numbers = {
  timeoutMs: 'a whole number of milliseconds from 1 to 2147483647',
  maxRetries: 'a whole number of retries from 0',
  maxResponseBytes: 'a whole number of bytes from 1',
};

describe('a client', () => {
  it.each(
    Object.entries(numbers).flatMap(([option, expected]) =>
      notWhole.map(([value, came]) => ({ option, expected, value, came })),
    ),
  )('refuses $came for $option', ({ option, expected, value, came }) => {
    const error = refusalOf({ ...required, [option]: value });
    expect(error.toJSON()).toEqual({
      name: 'InvalidOptionError',
      code: 'INVALID_OPTION',
      option,
      message: `${option} must be ${expected}; received ${came}`,
    });
  });

  it.each([
    ['timeoutMs', 0],
    ['timeoutMs', 2 ** 31],
    ['maxResponseBytes', 0],
  ])('refuses %s: %d, which is just outside the range', (option, value) => {
    expect(refusalOf({ ...required, [option]: value }).message).toContain(`received ${value}`);
  });

  it.each([
    ['timeoutMs', 1],
    ['timeoutMs', 2 ** 31 - 1],
    ['maxRetries', 0],
    ['maxRetries', -0],
    ['maxRetries', Number.MAX_SAFE_INTEGER],
    ['maxResponseBytes', 1],
    ['maxResponseBytes', Number.MAX_SAFE_INTEGER],
  ])('takes %s: %d, which is the end of the range', (option, value) => {
    expect(new PaymentClient({ ...required, [option]: value })).toBeInstanceOf(PaymentClient);
  });

  it.each<[string, unknown, string]>([
    ['dangerouslyAllowHttp', 'true', 'must be true or false; received a string of 4 characters'],
    ['dangerouslyAllowHttp', 1, 'must be true or false; received a number'],
    ['dangerouslyAllowHttp', null, 'must be true or false; received null'],
    ['dispatcher', {}, 'must be an undici Dispatcher (with dispatch); received an object'],
    ['dispatcher', null, 'must be an undici Dispatcher (with dispatch); received null'],
    [
      'dispatcher',
      'http://proxy',
      'must be an undici Dispatcher (with dispatch); received a string',
    ],
    ['fetch', {}, 'must be a function like globalThis.fetch; received an object'],
    ['fetch', null, 'must be a function like globalThis.fetch; received null'],
    [
      'logger',
      {},
      'must be a logger like console (with debug, info, warn, error); received an object',
    ],
    ['logger', { debug() {}, info() {}, warn() {} }, 'must be a logger like console'],
    ['logger', () => {}, 'must be a logger like console'],
    [
      'logger',
      [],
      'must be a logger like console (with debug, info, warn, error); received an empty',
    ],
  ])('refuses for %s what it is not', (option, value, says) => {
    const error = refusalOf({ ...required, [option]: value });
    expect(error.option).toBe(option);
    expect(error.message).toContain(`${option} ${says}`);
  });

  it.each([
    ['timeout', 'timeoutMs'],
    ['retries', 'maxRetries'],
    ['timeoutMS', 'timeoutMs'],
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

  it.each([[undefined], [null], ['https://payments.example']])(
    'refuses %s for its options',
    (options) => {
      const error = refusalOf(options);
      expect(error.option).toBe('options');
      expect(error.message).toContain('must be an object with baseUrl, apiKey and apiSecret');
    },
  );

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
  it.each<[keyof RequestOptions, unknown, string]>([
    ['timeoutMs', Number.NaN, 'timeoutMs must be a whole number of milliseconds from 1'],
    ['timeoutMs', 0, 'received 0'],
    ['timeoutMs', -1, 'received -1'],
    ['timeoutMs', 0.5, 'received 0.5'],
    ['timeoutMs', null, 'received null'],
    ['timeoutMs', '100', 'received a string of 3 characters'],
    ['maxRetries', Number.NaN, 'maxRetries must be a whole number of retries from 0'],
    ['maxRetries', -1, 'received -1'],
    ['maxRetries', Number.POSITIVE_INFINITY, 'received Infinity'],
    ['maxRetries', null, 'received null'],
    ['signal', {}, 'signal must be an AbortSignal (with addEventListener, removeEventListener)'],
    ['signal', null, 'received null'],
    ['signal', new AbortController(), 'received an object'],
    ['responseSchema', {}, 'responseSchema must be a Standard Schema validator'],
    ['responseSchema', null, 'received null'],
    ['responseSchema', { '~standard': {} }, 'responseSchema must be a Standard Schema validator'],
    ['responseSchema', () => true, 'responseSchema must be a Standard Schema validator'],
  ])('refuses what %s is not, and nothing is sent', async (option, value, says) => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    for (const call of [
      client.payments.create(order, { [option]: value }),
      client.request({ method: 'GET', path: '/x' }, { [option]: value }),
    ]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({ code: 'INVALID_OPTION', option, requestOutcome: 'not-sent' });
      expect(error.message).toContain(says);
    }
    expect(server.connections).toHaveLength(0);
  });

  it('refuses an option that does not exist, and nothing is sent', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    const given = { timeout: 5 } as RequestOptions;
    for (const call of [
      client.payments.create(order, given),
      client.request({ method: 'GET', path: '/x' }, given),
    ]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'timeout' });
      expect(error).toMatchObject({ requestOutcome: 'not-sent', safeToRetry: false });
      expect(error.message).toContain('use timeoutMs');
    }
    expect(server.connections).toHaveLength(0);
  });

  it.each([[null], ['fast'], [5]])('refuses %s for its options', async (options) => {
    const client = createClient('https://payments.invalid');
    const given = options as unknown as RequestOptions;
    for (const call of [
      client.payments.create(order, given),
      client.request({ method: 'GET', path: '/x' }, given),
    ]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({ code: 'INVALID_OPTION', requestOutcome: 'not-sent' });
      expect(error.message).toContain('options must be an object with the options of the call');
    }
  });

  it('passes on what an option throws when it is read', async () => {
    const client = createClient('https://payments.invalid');
    const options = {
      get timeoutMs(): number {
        throw new RangeError('from the getter');
      },
    };
    await expect(client.payments.create(order, options)).rejects.toThrow(RangeError);
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
