import type { CallbackInbox, InboxEvent } from '../inbox.js';

/** The store that {@link inboxContract} tests. */
export interface InboxContractSubject<Tx> {
  /**
   * A new inbox over the same store, as another process would make it. Called several times per
   * case. A store with a pool needs four connections or more.
   */
  create(): CallbackInbox<Tx> | Promise<CallbackInbox<Tx>>;
  /**
   * Makes the store take the present holder of this event's claim for dead: lets its lease expire,
   * ends its connection. The holder may not be able to renew the claim afterwards. Without it the
   * cases on crashes are skipped.
   */
  loseClaim?: ((event: InboxEvent) => void | Promise<void>) | undefined;
  /**
   * False for a store with a single connection (PGlite), where one payment waits for another.
   * @default true
   */
  concurrent?: boolean | undefined;
  /**
   * How long a claim of the inboxes that `create` makes lives without being renewed, in
   * milliseconds: make it short, as one case works for three leases of real time. A whole number
   * from 1 to a quarter of `timeoutMs`. Without it that case is skipped.
   */
  leaseMs?: number | undefined;
  /**
   * How long `process` waits at most while the payment is being processed, in milliseconds, before
   * it answers `busy`; 0 when it does so at once. One case waits for so long. A whole number from 0
   * to a quarter of `timeoutMs`. Without it that case is skipped: a store may wait without limit.
   */
  waitMs?: number | undefined;
  /**
   * Whether the inbox keeps the changes whose work failed (`failedChanges`, `discard`). Without it the
   * cases on them are skipped.
   * @default false
   */
  keepsFailures?: boolean | undefined;
  /**
   * Whether it keeps their bodies too. Without it the case on them is skipped.
   * @default false
   */
  keepsBodies?: boolean | undefined;
  /**
   * After how long a case fails that has not ended, in milliseconds: a guard against a store that
   * hangs. A whole number from 1. The test runner's own limit should be above it.
   * @default 30_000
   */
  timeoutMs?: number | undefined;
}

/** One promise of an inbox, as a test. */
export interface InboxContractCase {
  /** What an inbox does, as a statement. No two are the same. */
  readonly name: string;
  /** Why the case can't be run on this store. Absent when it can. */
  readonly skipped?: string | undefined;
  /** Rejects when the inbox does not do it, and when the case is one to skip. Needs no `this`. */
  run(): Promise<void>;
}
