import type { PaymentClient } from '../../client/payment-client.js';
import type { PaymentOutbox } from '../outbox.js';

/** The options for an outbox under test. */
export interface OutboxContractOptions {
  /** A client of the service that the contract simulates. */
  client: PaymentClient;
}

/** The store that {@link outboxContract} tests. */
export interface OutboxContractSubject<Tx> {
  /**
   * Creates a new outbox over the same store, as another process would. Called several times per case.
   * Leave out `leaseMs`, or set it to a minute or more, so that no lease expires during a case.
   */
  create(options: OutboxContractOptions): PaymentOutbox<Tx> | Promise<PaymentOutbox<Tx>>;
  /**
   * Runs the body in a transaction of the store's database. Commits if the body resolves; rolls back and rejects with
   * the same error if it rejects. Without it, the cases about transactions are
   * skipped.
   */
  transaction?: ((body: (tx: Tx) => Promise<void>) => Promise<void>) | undefined;
  /**
   * Expires the lease under which the payment is being sent, as if its sender had died. Without it, the
   * cases about crashes are skipped.
   */
  loseLease?: ((merchantPaymentReference: string) => void | Promise<void>) | undefined;
  /**
   * The time limit of a case, in milliseconds: a guard against a store that
   * hangs. A whole number from 1. Set the test runner's own limit above it.
   * @default 30_000
   */
  timeoutMs?: number | undefined;
}

/** One promise of an outbox, as a test. */
export interface OutboxContractCase {
  /** What an outbox does, as a statement. Unique among the cases. */
  readonly name: string;
  /** Why the case can't run on this store. Absent if it can. */
  readonly skipped?: string | undefined;
  /** Rejects if the outbox does not keep the promise, or if the case is to be skipped. Needs no `this`. */
  run(): Promise<void>;
}
