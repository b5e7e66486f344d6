import type { KeyObject } from 'node:crypto';
import { InvalidOptionError } from '../../errors.js';
import { createSigningKey, type SigningSecret } from '../../mock-server/callbacks/sign.js';
import {
  assertFunction,
  assertKnownOptions,
  assertOneOf,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../../protocol/assert-option.js';
import { describeValue } from '../../protocol/describe-value.js';
import { type SignatureEncoding, signatureEncodings } from '../../protocol/wire.js';
import type { CheckedPayment } from './payment.js';
import type { EndpointCheck } from './report.js';

/** What a probe tells of one payment. */
export interface EffectCount {
  /** How often the merchant's code acted on the payment: a whole number from 0. */
  effects: number;
  /** The payment's status in the merchant's records, in any spelling; not empty. */
  status?: string | undefined;
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
   * How far X-Timestamp may lie from the endpoint's clock, in seconds: a whole number from 2 to
   * 86400. What lies beyond must be refused, in both directions, and what lies within accepted; an
   * endpoint whose clock, network or handler shifts that by less than 5 seconds passes, with a note.
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
   * Within how many milliseconds a callback must be acknowledged: a whole number from 1 to
   * 2147483647. The interface says "immediately" and "as soon as possible", and gives no figure; the
   * default is what receivers of callbacks commonly have to keep to.
   * @default 5_000
   */
  acknowledgeWithinMs?: number | undefined;
  /**
   * The size of the body that must be refused, in bytes: a whole number from 4096 to 268435456.
   * @default 8_388_608 (8 MiB)
   */
  largeBodyBytes?: number | undefined;
  /**
   * The merchantPaymentReference of every payment, not blank; or a function that is called for each
   * payment and returns one. For an endpoint that takes references of existing orders only. With one
   * reference for all, a probe must tell the payments apart by their referenceNumber; when it does
   * not, the checks of effects are skipped.
   * @default a random `check-…`
   */
  merchantPaymentReference?: string | (() => string | PromiseLike<string>) | undefined;
  /**
   * Tells how often your code acted on a payment: rows, e-mails, shipments. Count one thing that
   * happens once for a payment that is `paid`, or once for each change. Asked before anything of a
   * payment is sent, and again at the end: the difference counts. Not together with `effectUrl`.
   * @default none: the checks whose id ends in `-effect` are skipped
   */
  countEffects?:
    | ((
        payment: CheckedPayment,
      ) => number | EffectCount | PromiseLike<number> | PromiseLike<EffectCount>)
    | undefined;
  /**
   * The same as an http or https URL without credentials: GET with the query parameters
   * `referenceNumber` and `merchantPaymentReference` added. It answers 200 with a number, or with
   * `{ "effects": 1, "status": "paid" }`, in less than 4096 bytes of JSON.
   * @default none
   */
  effectUrl?: string | URL | undefined;
  /**
   * Sends a callback too whose order is not stored, as one that overtakes the order's transaction: it
   * must not be acknowledged. For an endpoint that looks the order up; its reference is a random
   * `check-…`. A function is called then to store that order, and the callback is delivered again: it
   * must be acknowledged now, with one effect. `true` leaves that second half out.
   * @default false: the checks whose id begins with `overtaking` are skipped
   */
  overtaking?: boolean | ((payment: CheckedPayment) => void | PromiseLike<void>) | undefined;
  /**
   * How long after the answer an effect may take to show in the probe, in milliseconds: a whole
   * number from 0 to 2147483647. For work that is deferred until after the acknowledgement. The run
   * waits once for effects too many: a second of it at most, or longer when the first effect took long.
   * @default 1_000
   */
  effectsWithinMs?: number | undefined;
  /** Called with each check as it ends. What it throws ends the run. */
  onCheck?: ((check: EndpointCheck) => void) | undefined;
  /** Ends the run: the promise rejects with a `RequestAbortedError`. */
  signal?: AbortSignal | undefined;
}

export interface ResolvedCheckOptions {
  readonly url: string;
  readonly signingKey: KeyObject;
  readonly signatureEncoding: SignatureEncoding;
  readonly timestampUnit: 'seconds' | 'milliseconds';
  readonly toleranceSeconds: number;
  readonly timeoutMs: number;
  readonly acknowledgeWithinMs: number;
  readonly largeBodyBytes: number;
  readonly merchantPaymentReference: CheckCallbackEndpointOptions['merchantPaymentReference'];
  readonly countEffects: CheckCallbackEndpointOptions['countEffects'];
  readonly effectUrl: string | undefined;
  readonly overtaking: boolean | ((payment: CheckedPayment) => void | PromiseLike<void>);
  readonly effectsWithinMs: number;
  readonly onCheck: ((check: EndpointCheck) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const NAMES: OptionNames<CheckCallbackEndpointOptions> = {
  signingSecret: true,
  signatureEncoding: true,
  timestampUnit: true,
  toleranceSeconds: true,
  timeoutMs: true,
  acknowledgeWithinMs: true,
  largeBodyBytes: true,
  merchantPaymentReference: true,
  countEffects: true,
  effectUrl: true,
  overtaking: true,
  effectsWithinMs: true,
  onCheck: true,
  signal: true,
};

const SMALLEST_LARGE_BODY = 4_096;
const LARGEST_BODY = 268_435_456;

/** @throws {InvalidOptionError} naming the option */
export function resolveCheckOptions(
  url: unknown,
  options: CheckCallbackEndpointOptions,
): ResolvedCheckOptions {
  assertOptionsObject('options', options, 'signingSecret');
  assertKnownOptions(options, NAMES);
  const {
    signingSecret,
    signatureEncoding = 'hex',
    timestampUnit = 'seconds',
    toleranceSeconds = 300,
    timeoutMs = 10_000,
    acknowledgeWithinMs = 5_000,
    largeBodyBytes = 8_388_608,
    effectsWithinMs = 1_000,
  } = options;
  const signingKey = createSigningKey('signingSecret', signingSecret);
  assertOneOf('signatureEncoding', signatureEncoding, signatureEncodings);
  assertOneOf('timestampUnit', timestampUnit, ['seconds', 'milliseconds']);
  assertWholeNumber('toleranceSeconds', toleranceSeconds, { min: 2, max: 86_400, unit: 'seconds' });
  const milliseconds = { min: 1, max: LONGEST_TIMER_MS, unit: 'milliseconds' };
  assertWholeNumber('timeoutMs', timeoutMs, milliseconds);
  assertWholeNumber('acknowledgeWithinMs', acknowledgeWithinMs, milliseconds);
  assertWholeNumber('effectsWithinMs', effectsWithinMs, { ...milliseconds, min: 0 });
  assertWholeNumber('largeBodyBytes', largeBodyBytes, {
    min: SMALLEST_LARGE_BODY,
    max: LARGEST_BODY,
    unit: 'bytes',
  });
  return Object.freeze({
    url: resolveUrl('url', url),
    signingKey,
    signatureEncoding,
    timestampUnit,
    toleranceSeconds,
    timeoutMs,
    acknowledgeWithinMs,
    largeBodyBytes,
    effectsWithinMs,
    ...resolveCallables(options),
  });
}

function resolveCallables(options: CheckCallbackEndpointOptions) {
  const {
    merchantPaymentReference,
    countEffects,
    effectUrl,
    onCheck,
    signal,
    overtaking = false,
  } = options;
  assertReference(merchantPaymentReference);
  if (countEffects !== undefined) {
    assertFunction('countEffects', countEffects, 'that tells how often a payment was acted on');
  }
  if (countEffects !== undefined && effectUrl !== undefined) {
    throw new InvalidOptionError(
      'effectUrl',
      'effectUrl must not be given together with countEffects, but both came; one probe tells the effects',
    );
  }
  if (typeof overtaking !== 'boolean') {
    assertFunction('overtaking', overtaking, 'that stores an order, or true or false');
  }
  if (onCheck !== undefined) assertFunction('onCheck', onCheck, 'that takes a check');
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.aborted !== 'boolean') {
    throw new InvalidOptionError(
      'signal',
      `signal must be an AbortSignal, but ${describeValue(signal)} came`,
    );
  }
  return {
    merchantPaymentReference,
    countEffects,
    overtaking,
    effectUrl: effectUrl === undefined ? undefined : resolveUrl('effectUrl', effectUrl),
    onCheck,
    signal,
  };
}

function assertReference(reference: unknown): void {
  if (reference === undefined || typeof reference === 'function') return;
  if (typeof reference === 'string' && reference.trim() !== '') return;
  throw new InvalidOptionError(
    'merchantPaymentReference',
    `merchantPaymentReference must be a string that is not blank, or a function that returns one, but ${describeValue(reference)} came`,
  );
}

function resolveUrl(option: string, value: unknown): string {
  const text = value instanceof URL ? value.href : value;
  const url = typeof text === 'string' && URL.canParse(text) && new URL(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new InvalidOptionError(
      option,
      `${option} must be an http or https URL such as http://127.0.0.1:3000/callbacks, but ${describeValue(value)} came`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidOptionError(
      option,
      `${option} must not hold a user name or password, but it does`,
    );
  }
  return url.href;
}
