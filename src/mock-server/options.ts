import { randomInt } from 'node:crypto';
import { InvalidOptionError } from '../errors.js';
import {
  assertFunction,
  assertKnownOptions,
  assertOneOf,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import { type SignatureEncoding, signatureEncodings } from '../protocol/wire.js';
import { assertSecretText } from './callbacks/sign.js';
import type { MockClock } from './clock/clock.js';
import { createRunningClock } from './clock/running-clock.js';

/** Options of {@link createMockService}; {@link startMockServer} takes them too. */
export interface MockServiceOptions {
  /**
   * The API key that requests must present: not blank, no colon, no control characters.
   * @default random with startMockServer, or derived from the seed that is given; with
   * createMockService any key is accepted
   */
  apiKey?: string | undefined;
  /**
   * The API secret that requests must present: not blank, no white space at an edge.
   * @default random with startMockServer, or derived from the seed that is given; with
   * createMockService any secret is accepted
   */
  apiSecret?: string | undefined;
  /**
   * The secret callbacks are signed with: not blank, no white space at an edge.
   * @default random, or derived from the seed that is given
   */
  signingSecret?: string | undefined;
  /**
   * Where callbacks are sent: an http or https URL without credentials. It can be set later, on
   * the service. Without it status changes send nothing.
   */
  callbackUrl?: string | undefined;
  /**
   * How long after the end of a failed attempt the next one is made, one whole number of
   * milliseconds (0 to 2147483647) per retry. `[]` means no retry. The interface shows no schedule.
   * @default [1_000, 10_000, 60_000, 600_000, 3_600_000]
   */
  retryScheduleMs?: readonly number[] | undefined;
  /**
   * Whether a retry is signed anew, with the time of the retry, or repeats the timestamp and
   * signature of the first attempt. The interface does not say which the service does.
   * @default 'fresh'
   */
  retrySigning?: 'fresh' | 'original' | undefined;
  /**
   * How long the endpoint may take to answer a callback, in milliseconds of real time: a whole
   * number from 1 to 2147483647.
   * @default 10_000
   */
  callbackTimeoutMs?: number | undefined;
  /**
   * Encoding of the digest in X-Signature. The interface does not say which the service uses.
   * @default 'hex'
   */
  signatureEncoding?: SignatureEncoding | undefined;
  /**
   * The status of a payment that was just created. Creation is no change and sends no callback.
   * @default 'created'
   */
  initialStatus?: string | undefined;
  /**
   * What identifiers follow from: a whole number from 0. The same seed gives the same ones. Default
   * credentials follow from a seed that is given, too, so whoever knows it knows them.
   * @default a random one, readable as `seed`
   */
  seed?: number | undefined;
  /**
   * The service's time, for example one made by `createManualClock`.
   * @default one of its own, made by `createRunningClock`: it runs with the system's
   */
  clock?: MockClock | undefined;
}

/** Options of {@link startMockServer}. */
export interface MockServerOptions extends MockServiceOptions {
  /**
   * The port to listen on, 0 to 65535; 0 takes a free one.
   * @default 0
   */
  port?: number | undefined;
  /**
   * The address to listen on.
   * @default '127.0.0.1'
   */
  host?: string | undefined;
}

export interface ResolvedServiceOptions {
  readonly apiKey: string | undefined;
  readonly apiSecret: string | undefined;
  readonly signingSecret: string | undefined;
  readonly callbackUrl: string | undefined;
  readonly retryScheduleMs: readonly number[];
  readonly retrySigning: 'fresh' | 'original';
  readonly callbackTimeoutMs: number;
  readonly signatureEncoding: SignatureEncoding;
  readonly initialStatus: string;
  readonly seed: number;
  /** Whether default credentials follow from the seed: not from one that nobody has chosen. */
  readonly isSeedGiven: boolean;
  readonly clock: MockClock;
}

export const serviceOptionNames: OptionNames<MockServiceOptions> = {
  apiKey: true,
  apiSecret: true,
  signingSecret: true,
  callbackUrl: true,
  retryScheduleMs: true,
  retrySigning: true,
  callbackTimeoutMs: true,
  signatureEncoding: true,
  initialStatus: true,
  seed: true,
  clock: true,
};

export const serverOptionNames: OptionNames<MockServerOptions> = {
  ...serviceOptionNames,
  port: true,
  host: true,
};

const DEFAULT_RETRY_SCHEDULE_MS = [1_000, 10_000, 60_000, 600_000, 3_600_000];

/**
 * @param names what `options` may hold: more than those of the service for a server
 * @throws {InvalidOptionError} naming the option
 */
export function resolveServiceOptions(
  options: MockServiceOptions,
  names: OptionNames<MockServiceOptions> = serviceOptionNames,
): ResolvedServiceOptions {
  assertOptionsObject('options', options, 'apiKey, apiSecret, signingSecret, callbackUrl');
  assertKnownOptions(options, names);
  const {
    apiKey,
    apiSecret,
    signingSecret,
    callbackUrl,
    retryScheduleMs = DEFAULT_RETRY_SCHEDULE_MS,
    retrySigning = 'fresh',
    callbackTimeoutMs = 10_000,
    signatureEncoding = 'hex',
    initialStatus = 'created',
    seed = randomInt(2 ** 32),
    clock = createRunningClock(),
  } = options;
  if (apiKey !== undefined) assertApiKey(apiKey);
  if (apiSecret !== undefined) assertSecretText('apiSecret', apiSecret);
  if (signingSecret !== undefined) assertSecretText('signingSecret', signingSecret);
  assertRetrySchedule(retryScheduleMs);
  assertOneOf('retrySigning', retrySigning, ['fresh', 'original']);
  assertWholeNumber('callbackTimeoutMs', callbackTimeoutMs, {
    min: 1,
    max: LONGEST_TIMER_MS,
    unit: 'milliseconds',
  });
  assertOneOf('signatureEncoding', signatureEncoding, signatureEncodings);
  assertSecretText('initialStatus', initialStatus);
  assertSeed(seed);
  assertOptionsObject('clock', clock, 'now and setTimeout');
  assertFunction('clock.now', clock.now, 'that returns epoch milliseconds');
  assertFunction('clock.setTimeout', clock.setTimeout, 'that starts a timer');
  return Object.freeze({
    apiKey,
    apiSecret,
    signingSecret,
    callbackUrl: resolveCallbackUrl(callbackUrl),
    retryScheduleMs: Object.freeze([...retryScheduleMs]),
    retrySigning,
    callbackTimeoutMs,
    signatureEncoding,
    initialStatus,
    seed,
    isSeedGiven: options.seed !== undefined,
    clock,
  });
}

export interface ResolvedListenOptions {
  readonly port: number;
  readonly host: string;
}

/** @throws {InvalidOptionError} naming the option */
export function resolveListenOptions(options: MockServerOptions): ResolvedListenOptions {
  assertOptionsObject('options', options, 'port, host and those of the service');
  const { port = 0, host = '127.0.0.1' } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidOptionError(
      'port',
      `port must be a whole number from 0 to 65535, but ${typeof port === 'number' ? port : describeValue(port)} came`,
    );
  }
  if (typeof host !== 'string' || host.trim() === '') {
    throw new InvalidOptionError(
      'host',
      `host must be an address such as 127.0.0.1, but ${describeValue(host)} came`,
    );
  }
  return { port, host };
}

/** @throws {InvalidOptionError} naming callbackUrl */
export function resolveCallbackUrl(callbackUrl: unknown): string | undefined {
  if (callbackUrl === undefined) return undefined;
  const url = typeof callbackUrl === 'string' && URL.canParse(callbackUrl) && new URL(callbackUrl);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new InvalidOptionError(
      'callbackUrl',
      `callbackUrl must be an http or https URL such as http://127.0.0.1:3000/callbacks, but ${describeValue(callbackUrl)} came`,
    );
  }
  // Every attempt shows its URL in the delivery log.
  if (url.username !== '' || url.password !== '') {
    throw new InvalidOptionError(
      'callbackUrl',
      'callbackUrl must not hold a user name or password, but it does; a callback is authenticated by its signature',
    );
  }
  url.hash = '';
  return url.href;
}

// The colon ends the key in Basic authentication.
const API_KEY = /^[^:\p{Cc}]+$/u;

function assertApiKey(apiKey: string): void {
  assertSecretText('apiKey', apiKey);
  if (API_KEY.test(apiKey)) return;
  throw new InvalidOptionError(
    'apiKey',
    'apiKey must not contain a colon or a control character, but it does; HTTP Basic authentication can not carry it',
  );
}

function assertRetrySchedule(retryScheduleMs: unknown): void {
  if (!Array.isArray(retryScheduleMs)) {
    throw new InvalidOptionError(
      'retryScheduleMs',
      `retryScheduleMs must be an array of milliseconds, but ${describeValue(retryScheduleMs)} came`,
    );
  }
  for (const [index, delayMs] of retryScheduleMs.entries()) {
    assertWholeNumber(`retryScheduleMs[${index}]`, delayMs, {
      min: 0,
      max: LONGEST_TIMER_MS,
      unit: 'milliseconds',
    });
  }
}

function assertSeed(seed: number): void {
  if (Number.isSafeInteger(seed) && seed >= 0) return;
  throw new InvalidOptionError(
    'seed',
    `seed must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, but ${typeof seed === 'number' ? seed : describeValue(seed)} came`,
  );
}
