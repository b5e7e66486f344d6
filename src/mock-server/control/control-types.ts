import type { PaymentStatusRecord } from '../../protocol/payment.js';
import type { SignatureEncoding } from '../../protocol/wire.js';
import type { RecordedRequest } from '../api/recorded-request.js';
import type { DeliveryAttempt, DeliveryState } from '../callbacks/delivery.js';
import type { CallbackFault, RequestFault } from '../faults/fault-types.js';

// What the control interface sends and takes: JSON, so dates are ISO 8601 texts, and absent is absent.

/** What a mock service is set to and how much it holds: `GET /_mock/state`. */
export interface ControlState {
  /** Its base address. */
  url: string;
  /** Version of this package. */
  version: string;
  /** The service's clock. */
  now: string;
  /** Whether `POST /_mock/clock/advance` can move the clock. */
  canAdvanceClock: boolean;
  /** Where callbacks are sent; `null` for nowhere. */
  callbackUrl: string | null;
  /** Encoding of the digest in X-Signature. */
  signatureEncoding: SignatureEncoding;
  /** Milliseconds after a failed attempt until the next, one per retry. */
  retryScheduleMs: readonly number[];
  /** How much there is. */
  counts: {
    /** Payments, from 0. */
    payments: number;
    /** Requests that are kept, from 0 to 10,000. */
    requests: number;
    /** Attempts to deliver that are kept, from 0 to 10,000. */
    deliveries: number;
    /** Faults that are not used up, from 0. */
    faults: number;
  };
}

/** A status a payment had. */
export interface ControlStatusChange {
  /** The status. */
  status: string;
  /** Since when: the `updatedAt` of that change. */
  at: string;
}

/** A payment: its status record, what it was created from, and the statuses it had. */
export interface ControlPayment extends PaymentStatusRecord {
  /** The amount, as given at creation. */
  amount: number;
  /** The currency, as given at creation. */
  currency: string;
  /** Further fields of the creation. */
  extra: Record<string, unknown>;
  /** The last 100 statuses it had, oldest first. That of its creation is `at` its `createdAt`. */
  history: readonly ControlStatusChange[];
}

/** `GET /_mock/payments`: newest first. */
export interface ControlPaymentPage {
  /** The payments. */
  payments: readonly ControlPayment[];
  /** How many there are in all, or that match the search. */
  total: number;
  /** The `before` of the next page; absent on the last. */
  next?: string | undefined;
}

/** One attempt to deliver a callback: {@link DeliveryAttempt} as JSON, the body as text. */
export interface ControlAttempt
  extends Omit<DeliveryAttempt, 'sentAt' | 'rawBody' | 'nextRetryAt'> {
  /** When it was sent, on the service's clock. */
  sentAt: string;
  /** The body as sent. */
  rawBody: string;
  /** When the next attempt is due, on the service's clock. Absent when there will be none. */
  nextRetryAt?: string | undefined;
}

/** The callback of one status change with its attempts, oldest first. */
export interface ControlDelivery {
  /** Identifier of the delivery. */
  id: string;
  /** The payment. */
  referenceNumber: string;
  /** The status the payment was set to. */
  status: string;
  /** The `updatedAt` of the change. */
  updatedAt: string;
  /** Where it stands. */
  state: DeliveryState;
  /** Its attempts that have ended. */
  attempts: readonly ControlAttempt[];
}

/** `GET /_mock/payments/{referenceNumber}` */
export interface ControlPaymentDetail {
  /** The payment. */
  payment: ControlPayment;
  /**
   * Its deliveries, oldest first: of the last 10,000 deliveries of the service, and as many of the
   * newest as fit into 16 MiB.
   */
  deliveries: readonly ControlDelivery[];
}

/** `GET /_mock/deliveries`: attempts that have ended, newest first; fewer than asked for beyond 16 MiB. */
export interface ControlAttemptPage {
  /** The attempts. */
  attempts: readonly ControlAttempt[];
  /** How many are kept, or match; at most 10,000, of 64 MiB in all. */
  total: number;
}

/** A request as the service received it, without credentials: {@link RecordedRequest} as JSON. */
export interface ControlRequest extends Omit<RecordedRequest, 'at' | 'json'> {
  /** When it had arrived in full, on the service's clock. */
  at: string;
}

/** `GET /_mock/requests`: newest first; fewer than asked for beyond 16 MiB. */
export interface ControlRequestPage {
  /** The requests. */
  requests: readonly ControlRequest[];
  /** How many are kept; at most 10,000, of 64 MiB in all. */
  total: number;
}

/** A fault whose `times` is written as JSON can write it. */
export type WithJsonTimes<AnyFault> = AnyFault extends unknown
  ? Omit<AnyFault, 'times'> & {
      /** How often the fault still happens: a whole number from 1, or `"unlimited"`. */
      times?: number | 'unlimited' | undefined;
    }
  : never;

/** A fault as JSON: `times` is `"unlimited"` where it is `Infinity` in code. */
export type ControlFault = WithJsonTimes<RequestFault> | WithJsonTimes<CallbackFault>;

/** `GET /_mock/faults`, and the answer when they are changed: those that are not used up, oldest first. */
export interface ControlFaults {
  /** The faults, `times` being what is left. */
  faults: readonly ControlFault[];
}

/** The body of an error of the control interface. */
export interface ControlError {
  /** `INVALID_REQUEST`, `NOT_FOUND`, `METHOD_NOT_ALLOWED`, `FORBIDDEN`, `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, `CONFLICT`, `UNAVAILABLE`. */
  code: string;
  /** What was expected, what came, and what to do. */
  message: string;
}

/**
 * What happened, as `GET /_mock/events` tells it: one server-sent event each, `event` being the type
 * and `data` all of this as JSON.
 */
export type ControlEvent =
  | {
      /** A payment was created, or changed its status. */
      type: 'payment';
      /** As it is then. */
      payment: ControlPayment;
    }
  | {
      /** A request arrived; again when it was answered or its connection broke. */
      type: 'request';
      /** As it was received. */
      request: ControlRequest;
    }
  | {
      /** An attempt to deliver a callback ended. */
      type: 'attempt';
      /** As it was sent, with how it ended. */
      attempt: ControlAttempt;
    }
  | {
      /** A delivery changed its state: it is held, sent, waits for a retry, is done. */
      type: 'delivery';
      /** Which one, and its state. */
      delivery: Pick<ControlDelivery, 'id' | 'referenceNumber' | 'status' | 'state'>;
    }
  | {
      /** Faults were added, used up or cleared. */
      type: 'faults';
      /** Those that are left, oldest first. */
      faults: readonly ControlFault[];
    }
  | {
      /** A setting was changed, or the clock was moved. */
      type: 'state';
      /** As it is then. */
      state: ControlState;
    }
  | {
      /** Everything was forgotten. */
      type: 'reset';
      /** As it is then. */
      state: ControlState;
    };
