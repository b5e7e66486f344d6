import type { SigningSecret } from '../../callback/options.js';
import { createSigningKey } from '../../mock-server/callbacks/sign.js';
import {
  boolean,
  matching,
  type OptionRules,
  oneOf,
  optional,
  type Resolved,
  type Rule,
  resolveOptions,
  timerMs,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import { httpUrl } from '../../protocol/url.js';
import type { SignatureEncoding } from '../../protocol/wire.js';

/** Time, as the checks see it. The tests have a clock that passes without waiting. */
export interface CheckClock {
  /** The time of day, in Unix milliseconds. */
  now(): number;
  /** Milliseconds since a moment that stays the same; never set back. */
  elapsedMs(): number;
  pause(milliseconds: number): Promise<void>;
  /** Calls `run` once, later. Returns a function that cancels it. */
  startTimer(run: () => void, milliseconds: number): () => void;
}

/** What the tests replace. */
export interface CheckSurroundings {
  readonly clock: CheckClock;
  /** The size of the body that must be refused. */
  readonly largeBodyBytes: number;
}

/** A payment that was made up for one check. */
export interface CheckedPayment {
  /** A random UUID: no payment of the service has it. */
  readonly referenceNumber: string;
  /** The option `merchantPaymentReference`, or a random `check-…`. */
  readonly merchantPaymentReference: string;
}

/** What `countEffects` returns for one payment. */
export interface EffectCount {
  /** How often your code acted on the payment: a whole number from 0. */
  effects: number;
  /** The payment's status in your records, in any spelling, not empty; missing or null if it has none yet. */
  status?: string | null | undefined;
}

/** Options of {@link checkCallbackEndpoint}. */
export interface CheckCallbackEndpointOptions {
  /** The signing secret that the endpoint verifies with: text, bytes or a secret `KeyObject`; not empty. */
  signingSecret: SigningSecret;
  /**
   * The encoding of the digest in X-Signature.
   * @default 'hex'
   */
  signatureEncoding?: SignatureEncoding | undefined;
  /**
   * The unit of X-Timestamp. Timestamps are whole seconds in either.
   * @default 'seconds'
   */
  timestampUnit?: 'seconds' | 'milliseconds' | undefined;
  /**
   * The largest difference that the endpoint allows between X-Timestamp and its clock, in seconds: a whole number
   * from 2 to 86400. It must refuse larger differences, in both directions, and accept smaller ones. Both are tried
   * 5 seconds from the limit, which its clock, network or handler may shift.
   * @default 300
   */
  toleranceSeconds?: number | undefined;
  /**
   * How long to wait for each answer, the endpoint's or the probe's, in milliseconds: a whole number
   * from 1 to 2147483647.
   * @default 10_000
   */
  timeoutMs?: number | undefined;
  /**
   * The merchantPaymentReference of every payment, not blank; or a function that is called for each
   * payment and returns one. For an endpoint that accepts only references of existing orders. With one
   * reference for all payments, `countEffects` must count by referenceNumber; otherwise the checks of effects
   * are skipped.
   * @default a random `check-…`
   */
  merchantPaymentReference?: string | (() => string | PromiseLike<string>) | undefined;
  /**
   * Counts how often your code acted on a payment, by rows, e-mails or shipments. Count one thing that
   * happens once for a payment that is `paid`, and for no other status. It is called before the first callback of a
   * payment, and again at the end: the difference counts. An effect has 10 seconds to show.
   *
   * A function, or an http or https URL without credentials. The URL is requested by GET with the query parameters
   * `referenceNumber` and `merchantPaymentReference`, and answers 200 with a number, or with
   * `{ "effects": 1, "status": "paid" }`, in less than 4096 bytes of JSON.
   * @default none: the checks whose id ends in `-effect` are skipped
   */
  countEffects?:
    | ((
        payment: CheckedPayment,
      ) => number | EffectCount | PromiseLike<number> | PromiseLike<EffectCount>)
    | string
    | URL
    | undefined;
  /**
   * Whether a callback is sent whose order is not stored, like one that overtakes the order's transaction. It must not
   * be acknowledged. For an endpoint that looks the order up; the reference is a random `check-…`.
   * @default false
   */
  overtaking?: boolean | undefined;
}

type ReferenceOption = NonNullable<CheckCallbackEndpointOptions['merchantPaymentReference']>;
type CountOption = NonNullable<CheckCallbackEndpointOptions['countEffects']>;

const countEffects: Rule<Exclude<CountOption, URL>> = (value, option) =>
  typeof value === 'function'
    ? (value as Exclude<CountOption, string | URL>)
    : httpUrl(value, option).href;

const rules = {
  signingSecret: (value: unknown, option: string) => createSigningKey(option, value),
  signatureEncoding: withDefault('hex', oneOf('hex', 'base64', 'base64url')),
  timestampUnit: withDefault('seconds', oneOf('seconds', 'milliseconds')),
  toleranceSeconds: withDefault(300, wholeNumber({ min: 2, max: 86_400, unit: 'seconds' })),
  timeoutMs: withDefault(10_000, timerMs()),
  merchantPaymentReference: optional(
    matching<ReferenceOption>(
      'a string that is not blank, or a function that returns one',
      (value: unknown) =>
        typeof value === 'function' || (typeof value === 'string' && value.trim() !== ''),
    ),
  ),
  countEffects: optional(countEffects),
  overtaking: withDefault(false, boolean),
} satisfies OptionRules<CheckCallbackEndpointOptions>;

/** The options with their defaults; the signing secret as a key. */
export interface ResolvedCheckOptions extends Resolved<typeof rules>, CheckSurroundings {
  readonly url: string;
}

/** @throws {InvalidOptionError} naming the option */
export function resolveCheckOptions(
  url: unknown,
  options: CheckCallbackEndpointOptions,
  surroundings: CheckSurroundings,
): ResolvedCheckOptions {
  const resolved = resolveOptions(options, rules, { holds: 'signingSecret' });
  return Object.freeze({ ...resolved, ...surroundings, url: httpUrl(url, 'url').href });
}
