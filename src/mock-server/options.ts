import { randomInt } from 'node:crypto';
import { InvalidOptionError } from '../errors.js';
import { json } from '../protocol/json.js';
import {
  boolean,
  invalidOption,
  listOf,
  type OptionRules,
  oneOf,
  optional,
  type Resolved,
  type Rule,
  resolveOptions,
  secretText,
  text,
  timerMs,
  trimmedText,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { isObject } from '../protocol/own-fields.js';
import { statusRecordFields } from '../protocol/payment.js';
import { httpUrl } from '../protocol/url.js';
import {
  type SignatureEncoding,
  signatureEncodings,
  type TimestampUnit,
} from '../protocol/wire.js';
import { createSystemClock, type MockClock, manualClock } from './state/clock.js';

/** Options of {@link createMockService}; {@link startMockServer} takes them too. */
export interface MockServiceOptions {
  /**
   * The API key that requests must present: not blank, no colon, no control characters.
   * @default with startMockServer random, or derived from the given seed; with createMockService any is accepted
   */
  apiKey?: string | undefined;
  /**
   * The API secret that requests must present: not blank, no white space at an edge.
   * @default as of the API key
   */
  apiSecret?: string | undefined;
  /**
   * The secret callbacks are signed with: not blank, no white space at an edge.
   * @default random, or derived from the seed that is given
   */
  signingSecret?: string | undefined;
  /**
   * Where callbacks are sent: an http or https URL without credentials. Can be set later on the service.
   * Without it status changes send nothing.
   */
  callbackUrl?: string | undefined;
  /**
   * The delay before each retry, in milliseconds from the end of the failed attempt: whole numbers from
   * 0 to 2147483647. `[]` means no retry. The interface shows no schedule.
   * @default [1_000, 10_000, 60_000, 600_000, 3_600_000]
   */
  retryScheduleMs?: readonly number[] | undefined;
  /**
   * Whether a retry is signed again with the time of the retry (`fresh`), or repeats the timestamp and
   * signature of the first attempt (`original`). The interface does not say which the service does.
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
   * Unit of X-Timestamp. The interface does not say which the service uses.
   * @default 'seconds'
   */
  timestampUnit?: TimestampUnit | undefined;
  /**
   * The status of a new payment. Creation is not a change and sends no callback.
   * @default 'pending'
   */
  initialStatus?: string | undefined;
  /**
   * The status that each payment gets, with a callback, `autoStatusAfterMs` after its creation, unless its status
   * has changed by then. A reference that ends with `-auto-` and a status, such as `order-1001-auto-paid`, asks for
   * that status, with or without this option.
   * @default none: only `setStatus` sets a status
   */
  autoStatus?: string | undefined;
  /**
   * The delay of the automatic status, in milliseconds of the service's clock: from 0 to 2147483647.
   * @default 1_000
   */
  autoStatusAfterMs?: number | undefined;
  /**
   * Further fields of the answer to a creation, for example a `redirectUrl`: any JSON. In a string,
   * `{referenceNumber}` stands for the payment's. The fields of interface section 2.2 are refused.
   * @default none: the interface shows none
   */
  answerFields?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Determines the identifiers, and when it is given also the default credentials, which anyone who knows
   * it can derive: a whole number from 0.
   * @default random, readable as `seed`
   */
  seed?: number | undefined;
  /**
   * A clock that stands still until you advance it, made by `createManualClock()`.
   * @default the system's clock, which the dashboard and `merchant-payments clock advance` bring forward
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
  /**
   * Whether the answer to a creation has a field `paymentUrl`, the address of a page on which a person pays, declines,
   * leaves or pays twice. The person is then sent to the `returnUrl` of the creation or of the page's query. Both names are
   * the mock's own, since the interface shows no such field.
   * @default false
   */
  paymentPage?: boolean | undefined;
  /**
   * A file in which payments, requests and pending callbacks survive a restart. It is read at the start, and written
   * after each change and by `close()`; one server at a time.
   * @default none: they are forgotten
   */
  stateFile?: string | undefined;
}

// The colon ends the key in Basic authentication.
const API_KEY = /^[^:\p{Cc}]+$/u;

const apiKey: Rule<string> = (value, option) => {
  const key = secretText(value, option);
  if (API_KEY.test(key)) return key;
  throw new InvalidOptionError(
    option,
    `${option} must not contain a colon or a control character, which HTTP Basic authentication can't carry`,
  );
};

/** The delivery log shows the URL, so it must hold no credentials. */
export const callbackUrlRule: Rule<string | undefined> = optional((value, option) => {
  const url = httpUrl(value, option);
  url.hash = '';
  return url.href;
});

const answerFields: Rule<Readonly<Record<string, unknown>>> = (value, option) => {
  if (!isObject(value)) throw invalidOption(option, 'an object of fields', value);
  const fields = json(value, option) as Readonly<Record<string, unknown>>;
  const taken = statusRecordFields.find((field) => Object.hasOwn(fields, field));
  if (taken === undefined) return fields;
  throw new InvalidOptionError(
    option,
    `${option} must not hold ${taken}: the service answers the status record itself`,
  );
};

export const serviceRules = {
  apiKey: optional(apiKey),
  apiSecret: optional(secretText),
  signingSecret: optional(secretText),
  callbackUrl: callbackUrlRule,
  retryScheduleMs: withDefault(
    [1_000, 10_000, 60_000, 600_000, 3_600_000],
    listOf(timerMs(0), 'milliseconds'),
  ),
  retrySigning: withDefault('fresh', oneOf('fresh', 'original')),
  callbackTimeoutMs: withDefault(10_000, timerMs()),
  signatureEncoding: withDefault('hex', oneOf(...signatureEncodings)),
  timestampUnit: withDefault('seconds', oneOf('seconds', 'milliseconds')),
  initialStatus: withDefault('pending', trimmedText),
  autoStatus: optional(trimmedText),
  autoStatusAfterMs: withDefault(1_000, timerMs(0)),
  answerFields: withDefault({}, answerFields),
  seed: optional(wholeNumber({})),
  clock: optional(manualClock),
} satisfies OptionRules<MockServiceOptions>;

const serverRules = {
  ...serviceRules,
  port: withDefault(0, wholeNumber({ max: 65_535 })),
  host: withDefault('127.0.0.1', text),
  paymentPage: withDefault(false, boolean),
  stateFile: optional(text),
} satisfies OptionRules<MockServerOptions>;

export type ResolvedServiceOptions = ReturnType<typeof resolveServiceOptions>;
export type ResolvedServerOptions = ReturnType<typeof resolveServerOptions>;

/** @throws {InvalidOptionError} naming the option */
export function resolveServiceOptions(options: MockServiceOptions) {
  return complete(resolveOptions(options, serviceRules));
}

/** @throws {InvalidOptionError} naming the option */
export function resolveServerOptions(options: MockServerOptions) {
  return complete(resolveOptions(options, serverRules));
}

function complete<Options extends Resolved<typeof serviceRules>>(options: Options) {
  const { seed, clock } = options;
  return Object.freeze({
    ...options,
    seed: seed ?? randomInt(2 ** 32),
    /** Whether default credentials may follow from the seed. */
    isSeedGiven: seed !== undefined,
    clock: clock ?? createSystemClock(),
  });
}
