import type { MerchantPaymentsError, RequestOutcome } from '../errors.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';

/**
 * The state of a payment in a store.
 *
 * - `recorded`: it is waiting to be sent, and does not exist at the service.
 * - `sending`: a process is sending it right now.
 * - `created`: it exists at the service, whichever program has created it.
 * - `rejected`: the service did not accept it, or a person found that it was not created, or another attempt has replaced it,
 *   or paid the order, before it was sent.
 * - `unresolved`: it was sent, and may or may not exist at the service. The store does not send it again, unless its
 *   client has `idempotency`: its callback settles it, or a person does, by `markCreated` or `markNotCreated`.
 */
export type PaymentState = 'recorded' | 'sending' | 'created' | 'rejected' | 'unresolved';

/** Why the last attempt to send did not return a created payment. */
export interface SendFailure {
  /** The `code` of the error. */
  readonly code: string;
  /** The service's own code, if its answer had one. */
  readonly serviceCode?: string | undefined;
  /** The error's `requestOutcome`: whether the payment may exist. */
  readonly requestOutcome: RequestOutcome;
  /** The HTTP status of the answer, if there was one. */
  readonly httpStatus?: number | undefined;
}

/** The record of a payment, or the part of it that an answer had. */
export type PaymentFields = Partial<PaymentStatusRecord> & Record<string, unknown>;

/** What a payment in a store has in every state. */
interface StoredFields {
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** The order's first reference. The same, unless this is a further attempt. */
  order: string;
  /** The reference of the attempt that has replaced this one, which is then never sent. */
  replacedBy?: string | undefined;
  /** Whether this call sent nothing, and returns what was stored earlier or by another call. */
  replayed: boolean;
  /** The three fields of the creation, as sent. Absent for a payment that is known from callbacks alone. */
  input?: CreatePaymentInput | undefined;
  /** The fields sent in addition to them. Absent if there are none. */
  extraBody?: Record<string, unknown> | undefined;
  /** The number of attempts to send it, from 0. */
  attempts: number;
  /** When it was recorded, or first heard of, by the store's clock; in the result of the call that recorded it, by this process's clock. */
  recordedAt: Date;
  /** When the last attempt to send it began. Absent if there was none. */
  sentAt?: Date | undefined;
  /** When its state or its record last changed. */
  changedAt: Date;
}

/** Why a payment was not created, or may not have been. */
interface Failed {
  /** Why the last attempt to send failed, if it did. */
  failure?: SendFailure | undefined;
  /** The client's error, if this call sent the payment. Not stored: another call has `failure` alone. */
  error?: MerchantPaymentsError | undefined;
}

/** A payment in a store. Read `state` first: what else there is depends on it. */
export type StoredPayment = StoredFields &
  (
    | ({
        /** It exists at the service. */
        state: 'created';
        /** Its record, from the latest callback or else from the answer. Absent after an answer whose body was lost. */
        payment?: PaymentFields | undefined;
      } & Failed)
    | ({
        /** `recorded`: not sent yet. `rejected`: not created. `unresolved`: nobody knows yet. */
        state: 'recorded' | 'rejected' | 'unresolved';
      } & Failed)
    | {
        /** A process is sending it right now. */
        state: 'sending';
        /** None, as it is not known yet. */
        error?: undefined;
      }
  );
