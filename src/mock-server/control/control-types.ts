import type { PaymentStatusRecord } from '../../protocol/payment.js';
import type { SignatureEncoding } from '../../protocol/wire.js';
import type { EndpointCheck, EndpointReport } from '../../testing/endpoint-check/report.js';
import type { RecordedRequest } from '../api/recorded-request.js';
import type { CallbackEdit, DeliveryAttempt, DeliveryState } from '../callbacks/delivery.js';
import type { Fault } from '../faults/fault.js';
import type { CappedKind } from '../state/cap.js';
import type { MockStatusChange } from '../state/payments.js';
import type { CallbackGroup } from './callback-groups.js';

// What the control interface sends to the dashboard and the command line, as JSON: dates are ISO 8601
// strings, and undefined fields are absent.

/** `GET /_mock/state`: the settings of a mock service, and how much it holds. */
export interface ControlState {
  url: string;
  /** Version of this package. */
  version: string;
  /** The service's time. */
  now: string;
  /** How far `now` is ahead of the system's clock, in milliseconds. */
  aheadMs: number;
  /** Whether `POST /_mock/clock/advance` can move the clock. */
  canAdvanceClock: boolean;
  /** Where callbacks are sent; `null` when they are not. */
  callbackUrl: string | null;
  signatureEncoding: SignatureEncoding;
  /** The delay before each retry, in milliseconds. */
  retryScheduleMs: readonly number[];
  /** `requests`, `deliveries` (attempts) and `callbacks` (deliveries by group) count what is still kept. */
  counts: {
    payments: number;
    requests: number;
    deliveries: number;
    callbacks: CallbackCounts;
    faults: number;
  };
  /** How many were dropped at the service's limits, since the start or the last reset. Names as in `counts`. */
  dropped: Record<CappedKind, number>;
}

export interface ControlPayment extends PaymentStatusRecord {
  amount: number;
  currency: string;
  /** The other fields that it was created with. */
  extra: Record<string, unknown>;
  /** Its last 100 statuses, oldest first. The first one ever has `createdAt` as its `at`. */
  history: readonly MockStatusChange[];
}

/** `GET /_mock/payments`: newest first. */
export interface ControlPaymentPage {
  payments: readonly ControlPayment[];
  /** The number of payments that match the search, or of all. */
  total: number;
  /** The `before` of the next page; absent on the last. */
  next?: string | undefined;
}

export interface ControlAttempt
  extends Omit<DeliveryAttempt, 'sentAt' | 'rawBody' | 'nextRetryAt'> {
  sentAt: string;
  /** The body as sent, as text. */
  rawBody: string;
  nextRetryAt?: string | undefined;
}

export interface ControlDelivery {
  id: string;
  referenceNumber: string;
  /** The status the payment was set to. */
  status: string;
  /** The `updatedAt` of the change. */
  updatedAt: string;
  state: DeliveryState;
  /** Its finished attempts, oldest first. */
  attempts: readonly ControlAttempt[];
  /** How its edited body was signed; absent when the body was not edited. */
  edited?: CallbackEdit['signature'] | undefined;
}

/** A delivery in the list of callbacks, with the outcome of its last attempt and without bodies. */
export interface ControlCallback
  extends Pick<
    ControlDelivery,
    'id' | 'referenceNumber' | 'status' | 'updatedAt' | 'state' | 'edited'
  > {
  merchantPaymentReference: string;
  group: CallbackGroup;
  /** The last finished attempt, if any. */
  last?:
    | (Pick<
        ControlAttempt,
        'attempt' | 'sentAt' | 'outcome' | 'errorCode' | 'latencyMs' | 'fault' | 'nextRetryAt'
      > & { response?: { status: number } | undefined })
    | undefined;
}

export type CallbackCounts = Record<CallbackGroup, number>;

/** `GET /_mock/callbacks`: failures first, then newest first. */
export interface ControlCallbackPage {
  callbacks: readonly ControlCallback[];
  /** The number of callbacks that match the group and the search. */
  total: number;
  /** The number of all callbacks in each group. */
  counts: CallbackCounts;
}

/** `POST /_mock/callbacks/resend` */
export interface ControlResendSummary {
  /** The number of status changes whose callback was resent. */
  resent: number;
  acknowledged: number;
}

/** `GET`, `POST` and `DELETE /_mock/check`: the running check of the endpoint, or the last one. */
export interface ControlCheck {
  isRunning: boolean;
  /** The finished ones. */
  checks: readonly EndpointCheck[];
  /** Present once the run has ended. */
  report?: EndpointReport | undefined;
  /** Why it ended without a report. */
  failure?: string | undefined;
}

/** `GET /_mock/payments/{referenceNumber}` */
export interface ControlPaymentDetail {
  payment: ControlPayment;
  /** Oldest first: those among the service's last 10,000, and of these the newest that fit into 16 MiB. */
  deliveries: readonly ControlDelivery[];
}

/** `GET /_mock/deliveries`: finished attempts, newest first; fewer than `limit` if they exceed 16 MiB. */
export interface ControlAttemptPage {
  attempts: readonly ControlAttempt[];
  /** The number of kept attempts that match. */
  total: number;
}

export interface ControlRequest extends Omit<RecordedRequest, 'at' | 'json'> {
  at: string;
}

/** `GET /_mock/requests`: newest first; fewer than `limit` if they exceed 16 MiB. */
export interface ControlRequestPage {
  requests: readonly ControlRequest[];
  /** The number of kept requests. */
  total: number;
}

type WithJsonTimes<AnyFault> = AnyFault extends unknown
  ? Omit<AnyFault, 'times'> & { times?: number | 'unlimited' | undefined }
  : never;

/** A pending fault as JSON: `times` is `"unlimited"` where it is `Infinity` in code. */
export type ControlFault = WithJsonTimes<Fault> & {
  /** For `DELETE /_mock/faults/{id}`. */
  id: string;
};

/** `GET /_mock/faults`, and the answer to each change: the pending faults, oldest first. */
export interface ControlFaults {
  faults: readonly ControlFault[];
}

/** The body of an error of the control interface. */
export interface ControlError {
  code: string;
  message: string;
  /** With `INVALID_REQUEST`: the field that is invalid, for example `fault.delayMs`. */
  option?: string | undefined;
}

/** What `GET /_mock/events` sends: in each server-sent event, `event` is the type and `data` the whole object. */
export type ControlEvent =
  | { type: 'payment'; payment: ControlPayment }
  /** Sent when a request arrives, and again when it is answered or its connection breaks. */
  | { type: 'request'; request: ControlRequest }
  /** An attempt to deliver a callback ended. */
  | { type: 'attempt'; attempt: ControlAttempt }
  /** The state of a delivery changed. */
  | {
      type: 'delivery';
      delivery: Pick<ControlDelivery, 'id' | 'referenceNumber' | 'status' | 'state'> &
        Pick<ControlPayment, 'merchantPaymentReference'>;
    }
  /** Faults were added, used up or cleared; the pending ones. */
  | { type: 'faults'; faults: readonly ControlFault[] }
  /** A limit was reached: the oldest of a kind are dropped from now on. */
  | { type: 'limit'; kind: CappedKind; message: string }
  /** `state`: a setting was changed, or the clock was moved. `reset`: the mock was reset. */
  | { type: 'state' | 'reset'; state: ControlState };
