import { createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { signedHeaders } from '../../mock-server/callbacks/sign.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import type { CheckedPayment, ResolvedCheckOptions } from './options.js';

/** A request to the endpoint, before it is sent. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A status that no endpoint knows. The interface names only `paid`, and promises no list. */
export const UNKNOWN_STATUS = 'check_unknown_status';

export function createCheckedPayment(reference?: string, suffix = ''): CheckedPayment {
  const referenceNumber = randomUUID();
  const merchantPaymentReference = reference ?? `check-${referenceNumber}${suffix}`;
  return Object.freeze({ referenceNumber, merchantPaymentReference });
}

export interface Change {
  readonly status?: string;
  /** How long after the payment's creation, in seconds. */
  readonly afterSeconds?: number;
  /** The UTC offset that its times are written with, in whole hours from 0 to 9. */
  readonly offsetHours?: number;
}

/** Creates the record of a change (interface section 2.2). Its times are past: an endpoint may refuse others. */
export function createRecord(
  { referenceNumber, merchantPaymentReference }: CheckedPayment,
  { status = 'paid', afterSeconds = 10, offsetHours = 0 }: Change = {},
  nowMs = Date.now(),
): PaymentStatusRecord {
  const createdAtMs = nowMs - 60_000;
  const toDateTime = (epochMs: number): string =>
    new Date(epochMs + offsetHours * 3_600_000).toISOString().replace('Z', `+0${offsetHours}:00`);
  return {
    referenceNumber,
    merchantPaymentReference,
    providerReference: `check-${referenceNumber.slice(0, 8)}`,
    status,
    createdAt: toDateTime(createdAtMs),
    updatedAt: toDateTime(createdAtMs + afterSeconds * 1000),
  };
}

interface Signing {
  /** How far X-Timestamp is ahead of this machine's clock; negative for the past. */
  readonly aheadSeconds?: number;
  /** X-Timestamp, in place of one computed from the clock. */
  readonly timestamp?: string;
  readonly key?: KeyObject;
}

/** Signs callbacks as the service does (interface section 5.2), with the changes of a check. */
export class Signer {
  readonly #options: ResolvedCheckOptions;

  constructor(options: ResolvedCheckOptions) {
    this.#options = options;
  }

  sign(content: object | string, signing: Signing = {}): SignedRequest {
    const { aheadSeconds = 0, timestamp = this.timestampOf(aheadSeconds) } = signing;
    const { signingKey, signatureEncoding: encoding } = this.#options;
    const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
    const { key = signingKey } = signing;
    return { headers: signedHeaders({ timestamp, body, key, encoding }), body };
  }

  timestampOf(aheadSeconds: number): string {
    const seconds = Math.floor(this.#options.clock.now() / 1000) + aheadSeconds;
    return String(this.#options.timestampUnit === 'seconds' ? seconds : seconds * 1000);
  }
}

/** Replaces a header, or leaves it out. */
export function withHeader(
  { headers, body }: SignedRequest,
  name: string,
  value?: string,
): SignedRequest {
  const others = Object.entries(headers).filter(([other]) => other !== name);
  const changed = value === undefined ? others : [...others, [name, value] as const];
  return { headers: Object.fromEntries(changed), body };
}

/** The key of a sender who does not know the secret. */
export const createForeignKey = (): KeyObject => createSecretKey(randomBytes(32));
