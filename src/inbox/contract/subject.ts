import type { CallbackInbox, InboxEvent } from '../inbox.js';

/** The store that {@link inboxContract} tests. */
export interface InboxContractSubject<Tx> {
  /**
   * Creates a new inbox over the same store, as another process would. Called several times per
   * case. A store with a pool needs at least four connections.
   */
  create(): CallbackInbox<Tx> | Promise<CallbackInbox<Tx>>;
  /**
   * Makes the store treat the current holder of this event's claim as dead, by expiring its lease or
   * closing its connection. The holder must not be able to renew the claim afterwards. Without it, the
   * cases about crashes are skipped.
   */
  loseClaim?: ((event: InboxEvent) => void | Promise<void>) | undefined;
  /**
   * False for a store with a single connection (PGlite), where payments wait for each other.
   * @default true
   */
  concurrent?: boolean | undefined;
  /**
   * The lifetime of a claim that is not renewed, in the inboxes that `create` returns, in
   * milliseconds. Make it short: one case takes three leases of real time. A whole number
   * from 1 to a quarter of `timeoutMs`. Without it, that case is skipped.
   */
  leaseMs?: number | undefined;
  /**
   * The longest time, in milliseconds, that `process` waits while the payment is being processed before
   * it answers `busy`; 0 if it answers at once. One case waits that long. A whole number from 0
   * to a quarter of `timeoutMs`. Without it, that case is skipped: a store may wait without a limit.
   */
  waitMs?: number | undefined;
  /**
   * Whether the inbox keeps the changes whose work failed (`failedChanges`, `discard`). If not, the
   * cases about them are skipped.
   * @default false
   */
  keepsFailures?: boolean | undefined;
  /**
   * Whether the inbox keeps their bodies too. If not, the case about them is skipped.
   * @default false
   */
  keepsBodies?: boolean | undefined;
  /**
   * The time limit of a case, in milliseconds: a guard against a store that
   * hangs. A whole number from 1. Set the test runner's own limit above it.
   * @default 30_000
   */
  timeoutMs?: number | undefined;
}

/** One promise of an inbox, as a test. */
export interface InboxContractCase {
  /** What an inbox does, as a statement. Unique among the cases. */
  readonly name: string;
  /** Why the case can't run on this store. Absent if it can. */
  readonly skipped?: string | undefined;
  /** Rejects if the inbox does not keep the promise, or if the case is to be skipped. Needs no `this`. */
  run(): Promise<void>;
}
