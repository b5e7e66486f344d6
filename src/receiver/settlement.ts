import type { VerifiedCallback } from '../callback/options.js';
import { OutboxError } from '../errors.js';
import type { CallbackInbox } from '../inbox/inbox.js';
import type { PaymentOutbox, SettleOutcome } from '../outbox/outbox.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import { sameDatabase } from '../storage/shared-database.js';
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

/** What a callback is to the outbox. */
export class Settlement<Tx> {
  readonly #options: SettlementOptions<Tx>;
  readonly #isShared: boolean;

  constructor(options: SettlementOptions<Tx>) {
    this.#options = options;
    this.#isShared = sameDatabase(options.inbox, options.outbox);
  }

  /**
   * Settles the payment where that can't be in the inbox's transaction. Before the inbox, as it is the same
   * however often it is done, and a change that the inbox knows must not hide what was not settled.
   */
  async before(payment: PaymentStatusRecord): Promise<SettleOutcome | undefined> {
    if (this.#isShared) return undefined;
    return this.#options.outbox.settle(payment, { tx: undefined });
  }

  /** Settles it in the inbox's transaction, where it is not settled before. Whether it is a second payment. */
  async within(
    payment: PaymentStatusRecord,
    tx: Tx,
    before: SettleOutcome | undefined,
  ): Promise<boolean> {
    const outcome = before ?? (await this.#options.outbox.settle(payment, { tx }));
    return outcome === 'second-payment';
  }

  /**
   * Settles the payment of a change whose transaction was rolled back, and what was settled in it: that the
   * payment exists is true whatever becomes of the work.
   */
  async apart(payment: PaymentStatusRecord): Promise<void> {
    if (this.#isShared) await this.#options.outbox.settle(payment, { tx: undefined });
  }

  /** Has a person told of a second payment. */
  async reportSecond(callback: VerifiedCallback, context: PaymentContext<Tx>): Promise<void> {
    const { onSecondPayment, onError } = this.#options;
    if (onSecondPayment === undefined) await report(onError, secondPayment(), callback);
    else await onSecondPayment(callback, context);
  }
}

// Without the references, which may name a customer: onError is given the callback.
function secondPayment(): OutboxError {
  return new OutboxError(
    'SECOND_PAYMENT',
    'The service has a second payment for the merchantPaymentReference of this callback: refund one of the two. outbox.secondPayments() lists it, and onPayment gets it with secondPayment: true',
  );
}
