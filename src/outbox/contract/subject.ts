import type { PaymentClient } from '../../client/payment-client.js';
import type { PaymentOutbox } from '../outbox.js';

/** What an outbox of the contract is made with. */
export interface OutboxContractOptions {
  /** A client of a service that the contract plays. */
  client: PaymentClient;
}

/** The store that {@link outboxContract} tests. */
export interface OutboxContractSubject<Tx> {
  /**
   * A new outbox over the same store, as another process would make it. Called several times per case.
   * Without `leaseMs`, or with one of a minute or more: no case is to meet a lease that runs out by itself.
   */
  create(options: OutboxContractOptions): PaymentOutbox<Tx> | Promise<PaymentOutbox<Tx>>;
  /**
   * Runs the body in a transaction of the store's database, which is committed when the body resolves and
   * rolled back when it rejects, and gives or throws what it does. Without it the cases on transactions are
   * skipped.
   */
  transaction?: ((body: (tx: Tx) => Promise<void>) => Promise<void>) | undefined;
  /**
   * Makes the lease run out under which the payment is being sent, as if its sender had died. Without it the
   * cases on crashes are skipped.
   */
  loseLease?: ((merchantPaymentReference: string) => void | Promise<void>) | undefined;
  /**
   * After how long a case fails that has not ended, in milliseconds: a guard against a store that
   * hangs. A whole number from 1. The test runner's own limit should be above it.
   * @default 30_000
   */
  timeoutMs?: number | undefined;
}

/** One promise of an outbox, as a test. */
export interface OutboxContractCase {
  /** What an outbox does, as a statement. No two are the same. */
  readonly name: string;
  /** Why the case can't be run on this store. Absent when it can. */
  readonly skipped?: string | undefined;
  /** Rejects when the outbox does not do it, and when the case is one to skip. Needs no `this`. */
  run(): Promise<void>;
}
