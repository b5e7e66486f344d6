import type { PaymentStatusRecord } from '../../protocol/payment.js';
import type { SignatureEncoding } from '../../protocol/wire.js';
import type { EndpointCheck, EndpointReport } from '../../testing/endpoint-check/report.js';
import type { RecordedRequest } from '../api/recorded-request.js';
import type { CallbackEdit, DeliveryAttempt, DeliveryState } from '../callbacks/delivery.js';
import type { Fault } from '../faults/fault.js';
import type { MockStatusChange } from '../state/payments.js';
import type { CallbackGroup } from './callback-groups.js';

// What the control interface sends, for the dashboard and the command line. JSON: dates are ISO 8601
// texts, and undefined fields are absent.

/** What a mock service is set to and how much it holds: `GET /_mock/state`. */
export interface ControlState {
  url: string;
  /** Version of this package. */
  version: string;
  /** The service's clock. */
  now: string;
  /** How far that is ahead of the system's clock, in milliseconds. */
  aheadMs: number;
  /** Whether `POST /_mock/clock/advance` can move the clock. */
  canAdvanceClock: boolean;
  /** Where callbacks are sent; `null` for nowhere. */
  callbackUrl: string | null;
  signatureEncoding: SignatureEncoding;
  /** Milliseconds after a failed attempt until the next, one per retry. */
  retryScheduleMs: readonly number[];
  /** Of `requests`, `deliveries` (attempts) and `callbacks` (deliveries in groups), those that are kept. */
  counts: {
    payments: number;
    requests: number;
    deliveries: number;
    callbacks: CallbackCounts;
    faults: number;
  };
}

export interface ControlPayment extends PaymentStatusRecord {
  amount: number;
  currency: string;
  /** Further fields of the creation. */
  extra: Record<string, unknown>;
  /** The last 100 statuses it had, oldest first. That of its creation is `at` its `createdAt`. */
  history: readonly MockStatusChange[];
}

/** `GET /_mock/payments`: newest first. */
export interface ControlPaymentPage {
  payments: readonly ControlPayment[];
  /** How many there are in all, or that match the search. */
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
  /** Its attempts that have ended, oldest first. */
  attempts: readonly ControlAttempt[];
  /** Whether its body was edited, and signed again. */
  edited?: CallbackEdit['signature'] | undefined;
}

/** A delivery in the list of all: what its last attempt met, without bodies. */
export interface ControlCallback
  extends Pick<
    ControlDelivery,
    'id' | 'referenceNumber' | 'status' | 'updatedAt' | 'state' | 'edited'
  > {
  merchantPaymentReference: string;
  group: CallbackGroup;
  /** The last attempt that has ended; absent before the first. */
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
  /** How many there are in the group, or that match the search. */
  total: number;
  /** How many there are in each group, whatever is asked for. */
  counts: CallbackCounts;
}

/** `POST /_mock/callbacks/resend` */
export interface ControlResendSummary {
  /** Status changes whose callback was sent once more. */
  resent: number;
  acknowledged: number;
}

/** `GET`, `POST` and `DELETE /_mock/check`: the check of the endpoint that is under way, or the last one. */
export interface ControlCheck {
  isRunning: boolean;
  /** Those that have ended. */
  checks: readonly EndpointCheck[];
  /** When it has ended. */
  report?: EndpointReport | undefined;
  /** Why it ended without a report. */
  failure?: string | undefined;
}

/** `GET /_mock/payments/{referenceNumber}` */
export interface ControlPaymentDetail {
  payment: ControlPayment;
  /** Oldest first: of the last 10,000 of the service, as many of the newest as fit into 16 MiB. */
  deliveries: readonly ControlDelivery[];
}

/** `GET /_mock/deliveries`: attempts that have ended, newest first; fewer than asked for beyond 16 MiB. */
export interface ControlAttemptPage {
  attempts: readonly ControlAttempt[];
  /** How many are kept, or match. */
  total: number;
}

export interface ControlRequest extends Omit<RecordedRequest, 'at' | 'json'> {
  at: string;
}

/** `GET /_mock/requests`: newest first; fewer than asked for beyond 16 MiB. */
export interface ControlRequestPage {
  requests: readonly ControlRequest[];
  /** How many are kept. */
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

/** `GET /_mock/faults`, and the answer when they are changed: those that are not used up, oldest first. */
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

/** What `GET /_mock/events` sends: one server-sent event each, `event` being the type, `data` all of it. */
export type ControlEvent =
  | { type: 'payment'; payment: ControlPayment }
  /** A request arrived; again when it was answered or its connection broke. */
  | { type: 'request'; request: ControlRequest }
  /** An attempt to deliver a callback ended. */
  | { type: 'attempt'; attempt: ControlAttempt }
  /** A delivery changed its state. */
  | {
      type: 'delivery';
      delivery: Pick<ControlDelivery, 'id' | 'referenceNumber' | 'status' | 'state'> &
        Pick<ControlPayment, 'merchantPaymentReference'>;
    }
  /** Faults were added, used up or cleared: those that are left. */
  | { type: 'faults'; faults: readonly ControlFault[] }
  /** `state`: a setting was changed, or the clock was moved. `reset`: everything was forgotten. */
  | { type: 'state' | 'reset'; state: ControlState };
