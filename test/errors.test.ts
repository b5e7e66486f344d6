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
  InvalidOptionError,
  InvalidRequestError,
  MerchantPaymentsError,
  RequestError,
  ResponseError,
  RetryLaterError,
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
  const rejected = { requestOutcome: 'rejected', safeToRetry: false };
  const unclear = { requestOutcome: 'unknown', safeToRetry: false };
  const notSent = { requestOutcome: 'not-sent', safeToRetry: false };
  const message = 'The request was not sent: amount must be a number';
  const serviceCode = 'RATE_LIMITED';
  const limited = { httpStatus: 429, requestId: 'r-1', retryAfterSeconds: 0, safeToRetry: true };
  const fieldsOf: Record<ClassName, object> = {
    InvalidOptionError: { code: 'INVALID_OPTION', option: 'timeoutMs', ...notSent },
    InvalidRequestError: { code: 'INVALID_REQUEST', message, ...notSent, issues },
    ApiError: { code: 'API_ERROR', serviceCode, ...rejected, ...limited },
    InvalidCredentialsError: { code: 'INVALID_CREDENTIALS', httpStatus: 401, ...rejected },
    ConnectionError: { code: 'CONNECTION_FAILED', ...unclear },
    RequestTimeoutError: { code: 'TIMEOUT', ...unclear },
    RequestAbortedError: { code: 'ABORTED', ...notSent },
    ResponseError: { code: 'RESPONSE_UNUSABLE', ...unclear, requestOutcome: 'accepted', issues },
    CallbackVerificationError: { code: 'TIMESTAMP_OUTSIDE_WINDOW', skewSeconds: 301, issues },
    SecretUnavailableError: {
      ...{ code: 'SECRET_UNAVAILABLE', option: 'apiSecret', ...notSent },
      safeToRetry: true,
    },
    StoreError: { code: 'LEASE_LOST' },
    RetryLaterError: { code: 'RETRY_LATER', retryAfterSeconds: 1 },
    MockServerError: { code: 'PORT_IN_USE' },
  };
  it.each(all)('of %s has its code and its fields', (name, error) => {
    const fields = { name, message: 'm', ...fieldsOf[name] };
    expect(JSON.parse(JSON.stringify(error))).toEqual(fields);
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
    const whole = new InvalidRequestError([{ path: [], message: 'must be an object' }]);
    expect(whole.message).toContain('the payment must be an object');
    expect(new InvalidRequestError(issues).message).not.toContain('the payment');
  });

  it('leaves out what is absent, cause and stack', () => {
    const cause = new Error('below');
    const error = new ApiError('m', { response, cause, ...unknown });
    expect(error.cause).toBe(cause);
    expect(error.toJSON()).not.toHaveProperty('cause');
    expect(Object.keys(error)).toEqual(['requestOutcome', 'safeToRetry', 'code', 'httpStatus']);
    expect('cause' in new ConnectionError('m', unknown)).toBe(false);
    expect(new ResponseError('m', unknown).toJSON()).not.toHaveProperty('issues');
    const ofConstruction = new InvalidOptionError('a', 'm', { safeToRetry: true });
    expect(Object.keys(ofConstruction)).toEqual(['option', 'code']);
    expect(Object.keys(new CallbackVerificationError('MISSING_SIGNATURE', 'm'))).toEqual(['code']);
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

  it("keeps its meaning for a user's own subclass that has a name", () => {
    class OrderMissingError extends RetryLaterError {
      override name = 'OrderMissingError';
    }
    const own = new OrderMissingError('m', { retryAfterSeconds: 5 });
    expect(String(own)).toBe('OrderMissingError: m');
    expect(inspect(own)).toMatch(/OrderMissingError/);
    expect(own.toJSON()).toMatchObject({ name: 'OrderMissingError', code: 'RETRY_LATER' });
    expect(own).not.toBeInstanceOf(ConnectionError);
    expect(new RetryLaterError('m')).not.toBeInstanceOf(OrderMissingError);
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

  it('is false for anything else', () => {
    const plain = { name: 'ConnectionError', code: 'CONNECTION_FAILED', constructor: 'data' };
    for (const value of [undefined, null, 'text', plain, Object.create(null), new Error('m')]) {
      expect((value as unknown) instanceof MerchantPaymentsError).toBe(false);
      expect((value as unknown) instanceof ConnectionError).toBe(false);
    }
  });
});

describe('RetryLaterError', () => {
  it('has a message and a second to wait by itself', () => {
    const error = new RetryLaterError();
    expect(error.message).toMatch(/cannot be processed yet/);
    expect(error.retryAfterSeconds).toBe(1);
    expect('cause' in error).toBe(false);
    const cause = new Error('below');
    expect(new RetryLaterError('m', { cause }).cause).toBe(cause);
  });

  it('takes whole seconds up to a day, and nothing else', () => {
    for (const retryAfterSeconds of [1, 86_400]) {
      const error = new RetryLaterError('m', { retryAfterSeconds });
      expect(error.retryAfterSeconds).toBe(retryAfterSeconds);
    }
    for (const retryAfterSeconds of [0, 86_401, 1.5, Number.NaN, '5' as never]) {
      expect(() => new RetryLaterError('m', { retryAfterSeconds })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION', option: 'retryAfterSeconds' }),
      );
    }
  });
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

  it('is as long as the engine allows where that says otherwise', () => {
    Object.defineProperty(Error, 'stackTraceLimit', { ...before, value: 4, writable: false });
    expect(framesOf(30)).toHaveLength(4);
    Object.defineProperty(Error, 'stackTraceLimit', { ...before, value: 0, writable: true });
    expect(framesOf(3)).toEqual([]);
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
