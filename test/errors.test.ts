import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as errors from '../src/errors.js';

type Errors = typeof errors;
// Of the namespace itself, a linter forbids access by a name that is computed.
const classes: Errors = { ...errors };
const {
  ApiError,
  CallbackVerificationError,
  ConnectionError,
  describeIssues,
  errorCodes,
  InvalidCredentialsError,
  InvalidOptionError,
  InvalidRequestError,
  MerchantPaymentsError,
  RequestAbortedError,
  RequestError,
  RequestTimeoutError,
  ResponseError,
} = errors;

const unknown = { requestOutcome: 'unknown' } as const;
const response = { status: 500, headers: {}, body: '', text: '', attempts: 1 };
const issues = [{ path: ['amount'], message: 'must be a number' }];

/** One error of every class, with every field that it can have. */
const makeAll = (from: Errors) => ({
  InvalidOptionError: new from.InvalidOptionError('timeoutMs', 'm', { requestOutcome: 'not-sent' }),
  InvalidRequestError: new from.InvalidRequestError(issues),
  ApiError: new from.ApiError('m', {
    response: { ...response, status: 429 },
    serviceCode: 'RATE_LIMITED',
    requestId: 'r-1',
    retryAfterSeconds: 0,
    requestOutcome: 'rejected',
    safeToRetry: true,
  }),
  InvalidCredentialsError: new from.InvalidCredentialsError('m', {
    response: { ...response, status: 401 },
    requestOutcome: 'rejected',
  }),
  ConnectionError: new from.ConnectionError('m', { requestOutcome: 'unknown' }),
  RequestTimeoutError: new from.RequestTimeoutError('m', { requestOutcome: 'unknown' }),
  RequestAbortedError: new from.RequestAbortedError('m', { requestOutcome: 'not-sent' }),
  ResponseError: new from.ResponseError('m', { requestOutcome: 'accepted', issues }),
  CallbackVerificationError: new from.CallbackVerificationError('TIMESTAMP_OUTSIDE_WINDOW', 'm', {
    skewSeconds: 301,
    issues,
  }),
  SecretUnavailableError: new from.SecretUnavailableError('apiSecret', 'm', {
    requestOutcome: 'not-sent',
    safeToRetry: true,
  }),
  StoreError: new from.StoreError('LEASE_LOST', 'm'),
  RetryLaterError: new from.RetryLaterError('m'),
  MockServerError: new from.MockServerError('PORT_IN_USE', 'm'),
});
type ClassName = keyof ReturnType<typeof makeAll>;
const all = Object.entries(makeAll(errors)) as [ClassName, errors.MerchantPaymentsError][];

describe.each(all)('%s', (name, error) => {
  it('is an Error with its own name, also at the top of its stack', () => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(MerchantPaymentsError);
    expect(error).toBeInstanceOf(classes[name]);
    expect(error.name).toBe(name);
    expect(Object.keys(error)).not.toContain('name');
    expect(String(error)).toBe(`${name}: ${error.message}`);
    expect(error.stack).toMatch(new RegExp(`^${name}: `));
    expect(inspect(error)).toContain(`${name}: `);
  });

  it('has a name that can be set, as of any error', () => {
    const own = makeAll(errors)[name];
    own.name = 'Renamed';
    expect(String(own)).toBe(`Renamed: ${own.message}`);
    expect(Object.keys(own)).not.toContain('name');
    expect(error.name).toBe(name);
  });

  it('is an instance of no other class but its own base', () => {
    for (const [other] of all) {
      const related =
        other === name || (name === 'InvalidCredentialsError' && other === 'ApiError');
      expect(error instanceof classes[other]).toBe(related);
    }
  });
});

describe('toJSON', () => {
  it.each<[ClassName, object]>([
    [
      'InvalidOptionError',
      {
        code: 'INVALID_OPTION',
        option: 'timeoutMs',
        requestOutcome: 'not-sent',
        safeToRetry: false,
      },
    ],
    [
      'InvalidRequestError',
      {
        code: 'INVALID_REQUEST',
        message: 'The request was not sent: amount must be a number',
        requestOutcome: 'not-sent',
        safeToRetry: false,
        issues,
      },
    ],
    [
      'ApiError',
      {
        code: 'API_ERROR',
        serviceCode: 'RATE_LIMITED',
        httpStatus: 429,
        requestId: 'r-1',
        retryAfterSeconds: 0,
        requestOutcome: 'rejected',
        safeToRetry: true,
      },
    ],
    [
      'InvalidCredentialsError',
      {
        code: 'INVALID_CREDENTIALS',
        httpStatus: 401,
        requestOutcome: 'rejected',
        safeToRetry: false,
      },
    ],
    [
      'ConnectionError',
      { code: 'CONNECTION_FAILED', requestOutcome: 'unknown', safeToRetry: false },
    ],
    ['RequestTimeoutError', { code: 'TIMEOUT', requestOutcome: 'unknown', safeToRetry: false }],
    ['RequestAbortedError', { code: 'ABORTED', requestOutcome: 'not-sent', safeToRetry: false }],
    [
      'ResponseError',
      { code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted', safeToRetry: false, issues },
    ],
    ['CallbackVerificationError', { code: 'TIMESTAMP_OUTSIDE_WINDOW', skewSeconds: 301, issues }],
    [
      'SecretUnavailableError',
      {
        code: 'SECRET_UNAVAILABLE',
        option: 'apiSecret',
        requestOutcome: 'not-sent',
        safeToRetry: true,
      },
    ],
    ['StoreError', { code: 'LEASE_LOST' }],
    ['RetryLaterError', { code: 'RETRY_LATER', retryAfterSeconds: 1 }],
    ['MockServerError', { code: 'PORT_IN_USE' }],
  ])('of %s has its code and its fields', (name, fields) => {
    expect(JSON.parse(JSON.stringify(makeAll(errors)[name]))).toEqual({
      name,
      message: 'm',
      ...fields,
    });
  });

  it('keeps the answer of the service, and shows it to who asks alone', () => {
    for (const error of [
      new ApiError('m', { response, ...unknown }),
      new ResponseError('m', { response, ...unknown }),
    ]) {
      expect(error.response).toBe(response);
      expect(error.toJSON()).not.toHaveProperty('response');
    }
  });

  it('says that the payment itself is meant where an issue has no field', () => {
    const { message } = new errors.InvalidRequestError([
      { path: [], message: 'must be an object' },
    ]);
    expect(message).toBe('The request was not sent: the payment must be an object');
    expect(new errors.InvalidRequestError(issues).message).toBe(
      'The request was not sent: amount must be a number',
    );
  });

  it('leaves out what is absent, cause and stack', () => {
    const cause = new Error('below');
    const error = new ApiError('m', { response, cause, ...unknown });
    expect(error.cause).toBe(cause);
    expect(error.toJSON()).toEqual({
      name: 'ApiError',
      code: 'API_ERROR',
      httpStatus: 500,
      message: 'm',
      requestOutcome: 'unknown',
      safeToRetry: false,
    });
    expect(Object.keys(error)).toEqual(['requestOutcome', 'safeToRetry', 'code', 'httpStatus']);
    expect('cause' in new ConnectionError('m', unknown)).toBe(false);
    expect(new ResponseError('m', unknown).toJSON()).not.toHaveProperty('issues');
    expect(new InvalidOptionError('a', 'm').toJSON()).not.toHaveProperty('requestOutcome');
    expect(new InvalidOptionError('a', 'm', { safeToRetry: true }).toJSON()).not.toHaveProperty(
      'safeToRetry',
    );
    const bare = new CallbackVerificationError('MISSING_SIGNATURE', 'm');
    expect(Object.keys(bare)).toEqual(['code']);
    expect(bare.toJSON()).toEqual({
      name: 'CallbackVerificationError',
      code: 'MISSING_SIGNATURE',
      message: 'm',
    });
  });
});

describe('errorCodes', () => {
  it('is frozen, and names each code once', () => {
    expect(Object.isFrozen(errorCodes)).toBe(true);
    expect(new Set(errorCodes).size).toBe(errorCodes.length);
  });

  it('names the literal code of every class', () => {
    for (const [name, error] of all) {
      if (name !== 'ApiError') expect(errorCodes).toContain(error.code);
    }
    expect(errorCodes).toContain('API_ERROR');
  });
});

describe('instanceof', () => {
  const copies: { name: string; copy: Errors }[] = [];
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'merchant-payments-errors-'));
    const bundle = async (format: 'esm' | 'cjs') => {
      const outfile = join(directory, format === 'esm' ? 'errors.mjs' : 'errors.cjs');
      await build({
        entryPoints: [new URL('../src/errors.ts', import.meta.url).pathname],
        outfile,
        format,
        target: 'node20',
        bundle: true,
      });
      return outfile;
    };
    const [esm, cjs] = [await bundle('esm'), await bundle('cjs')];
    copies.push(
      { name: 'ESM', copy: await import(/* @vite-ignore */ esm) },
      { name: 'CJS', copy: createRequire(import.meta.url)(cjs) },
    );
  });

  afterAll(() => rm(directory, { recursive: true }));

  it('works between copies of the package, in both directions', () => {
    const everyone = [{ name: 'source', copy: errors }, ...copies];
    expect(everyone).toHaveLength(3);
    for (const { copy: one } of everyone) {
      for (const { copy: other } of everyone) {
        for (const [name, error] of Object.entries(makeAll(one)) as [ClassName, object][]) {
          expect(error instanceof other[name]).toBe(true);
          expect(error instanceof other.MerchantPaymentsError).toBe(true);
          expect(error instanceof other.ApiError).toBe(/ApiError|Credentials/.test(name));
          if (one !== other) expect(Object.getPrototypeOf(error)).not.toBe(other[name].prototype);
        }
      }
    }
  });

  it("keeps its ordinary meaning for a user's own subclass", () => {
    class OwnError extends ConnectionError {}
    class OtherError extends ConnectionError {}
    const own = new OwnError('m', unknown);
    expect(own).toBeInstanceOf(OwnError);
    expect(own).toBeInstanceOf(ConnectionError);
    expect(own).toBeInstanceOf(MerchantPaymentsError);
    expect(own).not.toBeInstanceOf(OtherError);
    expect(new ConnectionError('m', unknown)).not.toBeInstanceOf(OwnError);
    for (const { copy } of copies) expect(own).toBeInstanceOf(copy.ConnectionError);
  });

  it.each([
    [
      'by a field',
      () =>
        class extends errors.RetryLaterError {
          override name = 'OrderMissingError';
        },
    ],
    [
      'by an accessor',
      () =>
        class extends errors.RetryLaterError {
          static {
            Object.defineProperty(this.prototype, 'name', { get: () => 'OrderMissingError' });
          }
        },
    ],
  ])("keeps its meaning for a user's own subclass that is named %s", (_how, define) => {
    const OrderMissingError = define();
    const own = new OrderMissingError('m', { retryAfterSeconds: 5 });
    expect(own.name).toBe('OrderMissingError');
    expect(String(own)).toBe('OrderMissingError: m');
    expect(inspect(own)).toMatch(/OrderMissingError/);
    expect(own.toJSON()).toEqual({
      name: 'OrderMissingError',
      code: 'RETRY_LATER',
      message: 'm',
      retryAfterSeconds: 5,
    });
    expect(own).toBeInstanceOf(OrderMissingError);
    expect(own).not.toBeInstanceOf(ConnectionError);
    expect(new errors.RetryLaterError('m')).not.toBeInstanceOf(OrderMissingError);
    for (const { copy } of copies) expect(own).toBeInstanceOf(copy.RetryLaterError);
  });

  it('of RequestError holds for each error with a requestOutcome, in every copy', () => {
    for (const { copy: one } of [{ copy: errors }, ...copies]) {
      for (const { copy: other } of [{ copy: errors }, ...copies]) {
        for (const error of Object.values(makeAll(one)) as errors.MerchantPaymentsError[]) {
          expect(error instanceof other.RequestError).toBe('requestOutcome' in error);
        }
        const ofConstruction = new one.InvalidOptionError('timeoutMs', 'm');
        expect(ofConstruction instanceof other.RequestError).toBe(false);
      }
    }
    const foreign = Object.assign(new Error('m'), { requestOutcome: 'unknown' });
    expect(foreign).not.toBeInstanceOf(RequestError);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'ConnectionError'],
    ['a number', 7],
    ['a function', () => {}],
    ['a plain object', { name: 'ConnectionError', code: 'CONNECTION_FAILED' }],
    ['an object without a class', Object.create(null)],
    ['an object whose constructor is data', { constructor: 'ConnectionError' }],
    ['an ordinary error', new Error('m')],
  ])('is false for %s', (_what, value) => {
    expect((value as unknown) instanceof MerchantPaymentsError).toBe(false);
    expect((value as unknown) instanceof ConnectionError).toBe(false);
  });
});

it('the classes have the fields that they promise', () => {
  const made = makeAll(errors);
  expect(made.InvalidOptionError).toBeInstanceOf(InvalidOptionError);
  expect(made.InvalidRequestError).toBeInstanceOf(InvalidRequestError);
  expect(made.InvalidCredentialsError).toBeInstanceOf(InvalidCredentialsError);
  expect(made.RequestTimeoutError).toBeInstanceOf(RequestTimeoutError);
  expect(made.RequestAbortedError).toBeInstanceOf(RequestAbortedError);
  expect(made.CallbackVerificationError.skewSeconds).toBe(301);
  expect(made.ResponseError.issues).toEqual(issues);
});

describe('RetryLaterError', () => {
  const { RetryLaterError } = errors;

  it('has a message and a second to wait by itself', () => {
    const error = new RetryLaterError();
    expect(error.message).toBe('The callback cannot be processed yet');
    expect(error.retryAfterSeconds).toBe(1);
    expect('cause' in error).toBe(false);
  });

  it('keeps its cause', () => {
    const cause = new Error('below');
    expect(new RetryLaterError('m', { cause }).cause).toBe(cause);
  });

  it.each([1, 2, 86_400])('takes %d seconds', (retryAfterSeconds) => {
    const error = new RetryLaterError('m', { retryAfterSeconds });
    expect(error.retryAfterSeconds).toBe(retryAfterSeconds);
  });

  it.each([0, -1, 86_401, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5' as never])(
    'refuses %s seconds',
    (retryAfterSeconds) => {
      expect(() => new RetryLaterError('m', { retryAfterSeconds })).toThrow(
        expect.objectContaining({
          name: 'InvalidOptionError',
          option: 'retryAfterSeconds',
          message: 'retryAfterSeconds must be a whole number of seconds from 1 to 86400',
        }),
      );
    },
  );
});

describe('the stack of an error that names an option', () => {
  const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit') ?? {};
  const capture = Error.captureStackTrace;
  afterEach(() => {
    Object.defineProperty(Error, 'stackTraceLimit', before);
    Error.captureStackTrace = capture;
  });
  const below = (calls: number): Error =>
    calls === 0 ? new InvalidOptionError('a', 'm') : below(calls - 1);
  const framesOf = (calls: number) => below(calls).stack?.split('\n').slice(1) ?? [];

  it('shows ten frames more than others, and begins where the error was made', () => {
    Error.stackTraceLimit = 10;
    const frames = framesOf(30);
    expect(frames).toHaveLength(20);
    expect(frames[0]).toContain('below');
    expect(Error.stackTraceLimit).toBe(10);
  });

  it('is empty where stacks are turned off', () => {
    Error.stackTraceLimit = 0;
    expect(framesOf(3)).toEqual([]);
    expect(Error.stackTraceLimit).toBe(0);
  });

  it('is an ordinary one where the limit is frozen', () => {
    Object.defineProperty(Error, 'stackTraceLimit', { ...before, value: 4, writable: false });
    expect(framesOf(30)).toHaveLength(4);
  });

  it("is the engine's own where there is no captureStackTrace", () => {
    Error.stackTraceLimit = 10;
    Object.assign(Error, { captureStackTrace: undefined });
    expect(framesOf(30)).toHaveLength(10);
  });
});

describe('describeIssues', () => {
  it('gives paths from the outside in, and an empty one for the whole value', () => {
    const nested = { path: ['items', 0, Symbol('s')], message: 'must be there' };
    expect(describeIssues([nested, { path: [], message: 'must be an object' }])).toBe(
      'items.0.Symbol(s) must be there; must be an object',
    );
  });

  it.each([
    [5, 'a must be; b must be; c must be; d must be; e must be'],
    [6, 'a must be; b must be; c must be; d must be; e must be; and 1 more'],
    [9, 'a must be; b must be; c must be; d must be; e must be; and 4 more'],
  ])('of %i shows five', (count, text) => {
    const many = [...'abcdefghi']
      .slice(0, count)
      .map((key) => ({ path: [key], message: 'must be' }));
    expect(describeIssues(many)).toBe(text);
  });
});
