import {
  type CallbackFault,
  type CallbackFaultMatch,
  matchFields,
} from '../faults/fault-catalogue.js';
import type { EntryKind } from '../state/cap.js';
import type { MockPayment } from '../state/payments.js';

/** One POST to the merchant's callback endpoint, as it was sent (interface section 4.2). */
export interface DeliveryAttempt {
  /** Identifier of the attempt. */
  readonly id: string;
  /** The {@link Delivery} it belongs to. */
  readonly deliveryId: string;
  /** The payment. */
  readonly referenceNumber: string;
  /** The merchant's own reference of the payment. */
  readonly merchantPaymentReference: string;
  /** The status the payment was set to, even when a fault sent another. */
  readonly status: string;
  /** Number of the attempt in its delivery, from 1. */
  readonly attempt: number;
  /** 0 for the attempt itself, from 1 for the copies that a `duplicate` fault adds. */
  readonly copy: number;
  /** Where it was sent. */
  readonly url: string;
  /** When it was sent, on the service's clock. */
  readonly sentAt: Date;
  /** The X-Timestamp it was signed with, even when a fault omitted the header. */
  readonly timestamp: string;
  /** The headers of interface section 4.2 as sent, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent. */
  readonly rawBody: ReturnType<Uint8Array['slice']>;
  /** The signed text: `<timestamp>.<body>`. A fault can make it differ from what was sent. */
  readonly signedString: string;
  /**
   * How it ended.
   *
   * - `acknowledged`: answered with 2xx.
   * - `refused`: answered with another status. Redirects are not followed and count as refused.
   * - `failed`: no complete answer, since the connection was refused or reset, or the name look-up failed.
   * - `timed-out`: no complete answer within `callbackTimeoutMs`.
   * - `dropped`: not sent, because of a `drop` fault.
   */
  readonly outcome: 'acknowledged' | 'refused' | 'failed' | 'timed-out' | 'dropped';
  /** The endpoint's answer, if any. */
  readonly response?:
    | {
        /** The HTTP status. */
        readonly status: number;
        /** The first 4 KiB of the body. */
        readonly body: string;
        /** Its Retry-After header: the endpoint asks for a retry. */
        readonly retryAfter?: string | undefined;
      }
    | undefined;
  /** With `failed`: the network's error code, for example `ECONNREFUSED`. */
  readonly errorCode?: string | undefined;
  /** Duration of the attempt, in milliseconds of real time. */
  readonly latencyMs: number;
  /** The fault applied. */
  readonly fault?: CallbackFault['type'] | undefined;
  /** When the next attempt is due, on the service's clock. Absent when none follows. */
  readonly nextRetryAt?: Date | undefined;
}

export type DeliveryState = Delivery['state'];

/** The callback of one status change, with its attempts. Live: changes as retries are made. */
export interface Delivery {
  /** Identifier of the delivery. */
  readonly id: string;
  /** The payment. */
  readonly referenceNumber: string;
  /** The status the payment was set to. */
  readonly status: string;
  /** The payment as it was after the change. */
  readonly payment: MockPayment;
  /**
   * Where a delivery stands.
   *
   * - `not-configured`: there is no callbackUrl, so nothing is sent.
   * - `held`: held by a `reorder` fault until the payment's next delivery is sent.
   * - `sending`: an attempt is under way.
   * - `retrying`: waits for the next attempt.
   * - `acknowledged`: the endpoint answered with 2xx.
   * - `given-up`: the retry schedule is used up.
   * - `cancelled`: the service was reset or closed first.
   */
  readonly state:
    | 'not-configured'
    | 'held'
    | 'sending'
    | 'retrying'
    | 'acknowledged'
    | 'given-up'
    | 'cancelled';
  /** Its ended attempts, oldest first, of those that the service still keeps. */
  readonly attempts: readonly DeliveryAttempt[];
}

/** A delivery while it changes, with what its next attempts need. */
export interface LiveDelivery extends Delivery {
  state: DeliveryState;
  attempts: readonly DeliveryAttempt[];
  url: string;
  /** What was edited by hand before it was resent. */
  readonly edit?: CallbackEdit | undefined;
  /** When the first attempt was signed, in epoch milliseconds, if retries repeat its signature. */
  firstSignedAtMs?: number;
}

/** A body edited by hand, for a callback that is resent. */
export interface CallbackEdit {
  /** The body to send. */
  readonly body: string;
  /** `new`: the body is signed. `kept`: the signature is that of the unedited body, so endpoints must refuse it. */
  readonly signature: 'new' | 'kept';
}

/** Options of `resend`. */
export interface ResendOptions {
  /**
   * The fault of its first attempt, without `times` and `match`.
   * @default the oldest pending fault that fits
   */
  fault?: CallbackFault | undefined;
}

/** Which attempt to wait for. Every given field must be equal. */
export interface DeliveryMatch extends CallbackFaultMatch {
  /** Whether the endpoint answered with 2xx. */
  acknowledged?: boolean | undefined;
}

export const attemptEntries: EntryKind<DeliveryAttempt> = {
  name: 'delivery',
  plural: 'delivery attempts',
  toFacts({ referenceNumber, merchantPaymentReference, status, attempt, outcome }) {
    const acknowledged = outcome === 'acknowledged';
    return { referenceNumber, merchantPaymentReference, status, attempt, acknowledged };
  },
  fields: { ...matchFields.callback, acknowledged: 'boolean' },
  describe({ attempt, copy, referenceNumber, status, outcome, response, ...rest }) {
    const { errorCode, fault, nextRetryAt } = rest;
    const next = nextRetryAt && `next attempt at ${nextRetryAt.toISOString()}`;
    return [
      `attempt ${attempt}${copy > 0 ? ` (copy ${copy})` : ''}`,
      referenceNumber,
      `status ${status}`,
      outcome,
      response && `HTTP ${response.status}`,
      errorCode,
      fault && `fault ${fault}`,
      next && `${next} of the service's clock`,
    ]
      .filter((part) => part !== undefined)
      .join(', ');
  },
};
