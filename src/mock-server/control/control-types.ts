import type { RecordedRequest } from '../api/recorded-request.js';
import type { CallbackEdit, DeliveryAttempt, DeliveryState } from '../callbacks/delivery.js';
import type { Fault } from '../faults/fault-catalogue.js';
import type { CappedKind } from '../state/cap.js';
import type { MockPayment } from '../state/payments.js';

// What the control interface sends to the dashboard and the command line, as JSON: dates are ISO 8601
// strings, and undefined fields are absent.

/** How many of each kind the state has. */
export const SHOWN = 200;

/** The settings of a mock service, and its time. */
export interface ControlSettings {
  url: string;
  version: string;
  now: string;
  /** How far `now` is ahead of the system's clock, in milliseconds. */
  aheadMs: number;
  /** `false` for a clock that stands still until it is advanced. */
  clockRuns: boolean;
  /** Where callbacks are sent; `null` when they are not. */
  callbackUrl: string | null;
}

/** `GET /_mock/state`: everything, the newest 200 of each kind, newest first. */
export interface ControlState extends ControlSettings {
  payments: readonly ControlPayment[];
  requests: readonly ControlRequest[];
  deliveries: readonly ControlDelivery[];
  /** The pending ones, oldest first. */
  faults: readonly ControlFault[];
  /** How many the service keeps, and how many of the payments are a second one of their order. */
  counts: { payments: number; requests: number; deliveries: number; secondPayments: number };
  /** How many were dropped at the service's limits, since the start or the last reset. */
  dropped: Record<CappedKind, number>;
}

export type ControlPayment = MockPayment;

/** An attempt to deliver a callback. */
export interface ControlAttempt
  extends Omit<DeliveryAttempt, 'sentAt' | 'rawBody' | 'nextRetryAt' | 'signedString'> {
  sentAt: string;
  rawBody: string;
  /** The signed text, where it is not the timestamp, a full stop and the body as sent. */
  signedString?: string | undefined;
  nextRetryAt?: string | undefined;
  /** Whether it should have been refused: another secret made its signature, or its body was changed. */
  forged: boolean;
  /** What the endpoint's answer says, in one line of at most 200 characters; absent when its body is empty. */
  answerLine?: string | undefined;
  /** Why it is not as it should be, as far as the mock knows. */
  hint?: string | undefined;
}

/** The callback of a status change, with its ended attempts, oldest first. */
export interface ControlDelivery {
  id: string;
  referenceNumber: string;
  merchantPaymentReference: string;
  status: string;
  updatedAt: string;
  state: DeliveryState;
  /** How its edited body was signed; absent when the body was not edited. */
  edited?: CallbackEdit['signature'] | undefined;
  attempts: readonly ControlAttempt[];
}

/** `GET /_mock/payments/{payment}`: a payment and its whole story. Lists are oldest first. */
export interface ControlPaymentDetail {
  payment: ControlPayment;
  deliveries: readonly ControlDelivery[];
  /** The kept requests with its merchantPaymentReference. */
  requests: readonly ControlRequest[];
  /** The other payments with its merchantPaymentReference. */
  others: readonly ControlPayment[];
}

export interface ControlRequest extends Omit<RecordedRequest, 'at' | 'json'> {
  at: string;
  /**
   * `waiting`: not answered yet. `accepted`: a 2xx reached the caller. `refused`: another status did. `lost`: no answer
   * reached the caller.
   */
  outcome: 'waiting' | 'accepted' | 'refused' | 'lost';
  /** What the answer says, in one line, if it is no success. */
  answerLine?: string | undefined;
}

type WithJsonTimes<AnyFault> = AnyFault extends unknown
  ? Omit<AnyFault, 'times'> & { times?: number | 'unlimited' | undefined }
  : never;

/** A pending fault as JSON: `times` is `"unlimited"` where it is `Infinity` in code. */
export type ControlFault = WithJsonTimes<Fault> & {
  /** For `DELETE /_mock/faults/{id}`. */
  id: string;
};

/** The answer to a change of the faults: the pending ones, oldest first. */
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
  /** A delivery is new, or its state changed. */
  | { type: 'delivery'; isNew: boolean; delivery: Omit<ControlDelivery, 'attempts'> }
  /** Faults were added, used up or cleared. */
  | { type: 'faults'; faults: readonly ControlFault[] }
  /** A limit was reached: the oldest of a kind are dropped from now on. */
  | { type: 'limit'; kind: CappedKind; message: string }
  /** `settings`: a setting was changed, or the clock was moved. `reset`: the mock was reset. */
  | { type: 'settings' | 'reset'; settings: ControlSettings };
