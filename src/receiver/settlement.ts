import type { VerifiedCallback } from '../callback/options.js';
import { StoreError } from '../errors.js';
import type { CallbackInbox } from '../store/inbox.js';
import type { PaymentOutbox, SettleOutcome } from '../store/outbox.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import { sameDatabase } from '../store/shared-database.js';
import type { PaymentContext, Settled } from './options.js';
import { report } from './report.js';

interface SettlementOptions<Tx> {
  readonly inbox: CallbackInbox<Tx>;
  readonly outbox: PaymentOutbox;
  readonly onSecondPayment:
    | ((callback: VerifiedCallback, context: PaymentContext<Tx>) => Settled)
    | undefined;
  readonly onError: (error: unknown, callback?: VerifiedCallback) => unknown;
}

/** Settles payments in the outbox by their callbacks. */
export class Settlement<Tx> {
  readonly #options: SettlementOptions<Tx>;
  readonly #isShared: boolean;

  constructor(options: SettlementOptions<Tx>) {
    this.#options = options;
    this.#isShared = sameDatabase(options.inbox, options.outbox);
  }

  /**
   * Settles the payment before the inbox is called, unless the inbox's transaction can do it. It must come
   * first: the inbox does not run the work of a change that it already knows. Settling twice is harmless.
   */
  async settleBeforeInbox(payment: PaymentStatusRecord): Promise<SettleOutcome | undefined> {
    if (this.#isShared) return undefined;
    return this.#options.outbox.settle(payment, { tx: undefined });
  }

  /**
   * Settles the payment in the inbox's transaction, unless it is already settled. Resolves with whether it is
   * a second payment.
   */
  async settleInTransaction(
    payment: PaymentStatusRecord,
    tx: Tx,
    before: SettleOutcome | undefined,
  ): Promise<boolean> {
    const outcome = before ?? (await this.#options.outbox.settle(payment, { tx }));
    return outcome === 'second-payment';
  }

  /**
   * Settles the payment of a change whose transaction, with its settlement, was rolled back: the payment
   * exists, whether or not the work succeeds.
   */
  async settleSeparately(payment: PaymentStatusRecord): Promise<void> {
    if (this.#isShared) await this.#options.outbox.settle(payment, { tx: undefined });
  }

  /** Reports a second payment to the merchant. */
  async reportSecondPayment(
    callback: VerifiedCallback,
    context: PaymentContext<Tx>,
  ): Promise<void> {
    const { onSecondPayment, onError } = this.#options;
    if (onSecondPayment === undefined) await report(onError, secondPayment(), callback);
    else await onSecondPayment(callback, context);
  }
}

// Without the references, which may identify a customer: onError gets the callback too.
function secondPayment(): StoreError {
  return new StoreError(
    'SECOND_PAYMENT',
    'The service has a second payment for the merchantPaymentReference of this callback: look both up at the service, and refund one if both are paid. outbox.secondPayments() lists it, and onPayment gets it with secondPayment: true',
  );
}
