import type { SignatureEncoding } from '../../protocol/wire.js';
import type { CallbackDiagnosis, CallbackFinding } from '../../testing/diagnosis/diagnosis.js';
import type { RecordedRequest } from '../api/recorded-request.js';
import type { CallbackEdit, DeliveryAttempt, DeliveryState } from '../callbacks/delivery.js';
import type { Fault } from '../faults/fault.js';
import type { CappedKind } from '../state/cap.js';
import type { MockPayment } from '../state/payments.js';
import type { CallbackGroup } from './callback-groups.js';

// What the control interface sends to the dashboard and the command line, as JSON: dates are ISO 8601
// strings, and undefined fields are absent.

/** The entries up to the limit, and the number of all that match. */
export type Page<Name extends string, Entry> = Record<Name, readonly Entry[]> & { total: number };

/** `GET /_mock/state`: the settings of a mock service, and how much it holds. */
export interface ControlState {
  url: string;
  version: string;
  now: string;
  /** How far `now` is ahead of the system's clock, in milliseconds. */
  aheadMs: number;
  /** `false` for a clock that stands still until it is advanced. */
  clockRuns: boolean;
  paymentPage: boolean;
  /** Where callbacks are sent; `null` when they are not. */
  callbackUrl: string | null;
  signatureEncoding: SignatureEncoding;
  retryScheduleMs: readonly number[];
  /** `requests`, `deliveries` (attempts) and `callbacks` (deliveries by group) count what is still kept. */
  counts: {
    payments: number;
    requests: number;
    deliveries: number;
    callbacks: CallbackCounts;
    faults: number;
    secondPayments: number;
  };
  /** How many were dropped at the service's limits, since the start or the last reset. Names as in `counts`. */
  dropped: Record<CappedKind, number>;
}

export type ControlPayment = MockPayment;

/** `GET /_mock/payments`: newest first; with a search, what fits better comes first. */
export type ControlPaymentPage = Page<'payments', ControlPayment>;

export interface ControlAttempt
  extends Omit<DeliveryAttempt, 'sentAt' | 'rawBody' | 'nextRetryAt'> {
  sentAt: string;
  rawBody: string;
  nextRetryAt?: string | undefined;
  /** What the endpoint's answer says, in one line of at most 200 characters; absent when its body is empty. */
  answerLine?: string | undefined;
  /** Why it was not acknowledged, as far as the mock knows: its own fault, or what an empty answer usually means. */
  hint?: string | undefined;
}

export interface ControlDelivery {
  id: string;
  referenceNumber: string;
  status: string;
  updatedAt: string;
  state: DeliveryState;
  attempts: readonly ControlAttempt[];
  /** How its edited body was signed; absent when the body was not edited. */
  edited?: CallbackEdit['signature'] | undefined;
}

/** A delivery in the list of callbacks, with the outcome of its last attempt and without bodies. */
export interface ControlCallback extends Omit<ControlDelivery, 'attempts'> {
  merchantPaymentReference: string;
  group: CallbackGroup;
  last?:
    | (Pick<
        ControlAttempt,
        | 'attempt'
        | 'sentAt'
        | 'outcome'
        | 'errorCode'
        | 'latencyMs'
        | 'fault'
        | 'nextRetryAt'
        | 'answerLine'
        | 'hint'
      > & { response?: { status: number } | undefined })
    | undefined;
}

export type CallbackCounts = Record<CallbackGroup, number>;

/** `GET /_mock/callbacks`: failures first, then newest first; with a search, what fits better comes before. */
export type ControlCallbackPage = Page<'callbacks', ControlCallback> & { counts: CallbackCounts };

/** `GET /_mock/payments/{referenceNumber}` */
export interface ControlPaymentDetail {
  payment: ControlPayment;
  /** Oldest first: those among the service's last 10,000. */
  deliveries: readonly ControlDelivery[];
  /** The kept requests with its merchantPaymentReference, oldest first. */
  requests: readonly ControlRequest[];
  /** The other payments with its merchantPaymentReference, oldest first. */
  others: readonly Pick<ControlPayment, 'referenceNumber' | 'status' | 'createdAt'>[];
}

/** `GET /_mock/deliveries`: finished attempts, newest first. */
export type ControlAttemptPage = Page<'attempts', ControlAttempt>;

export interface ControlRequest extends Omit<RecordedRequest, 'at' | 'json'> {
  at: string;
  /**
   * `waiting`: not answered yet. `accepted`: a 2xx reached the caller. `refused`: another status did. `lost`: no answer
   * reached the caller.
   */
  outcome: RequestOutcome;
}

export type RequestOutcome = 'waiting' | 'accepted' | 'refused' | 'lost';

/** `GET /_mock/requests`: newest first; with a search, what fits better comes first. */
export type ControlRequestPage = Page<'requests', ControlRequest>;

/** `POST /_mock/diagnose`: what `diagnoseCallback` finds, after the fault that the mock applied. */
export interface ControlDiagnosis extends Omit<CallbackDiagnosis, 'findings'> {
  findings: readonly (Omit<CallbackFinding, 'code'> & {
    code: CallbackFinding['code'] | 'mock-fault';
  })[];
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
