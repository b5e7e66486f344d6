import type { MerchantPaymentsError, RequestOutcome } from '../errors.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';

/**
 * The state of a payment in a store.
 *
 * - `recorded`: it is waiting to be sent, and does not exist at the service.
 * - `sending`: a process is sending it right now.
 * - `created`: it exists at the service, whichever program has created it.
 * - `rejected`: the service did not accept it, or a person found that it was not created.
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

/** A payment in a store. */
export interface StoredPayment {
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** Its state. */
  state: PaymentState;
  /**
   * The payment's record, from the latest callback or else from the answer to its creation. Absent unless it is
   * `created`, and after an answer whose body was lost.
   */
  payment?: (Partial<PaymentStatusRecord> & Record<string, unknown>) | undefined;
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
  /** Why the last attempt to send failed, if it did. */
  failure?: SendFailure | undefined;
  /**
   * The client's error, if this call sent the payment and returns a result in spite of it: the outcome is unknown
   * (`unresolved`), or the answer was lost (`created`). Not stored.
   */
  error?: MerchantPaymentsError | undefined;
}
