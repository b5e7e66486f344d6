import type { CallbackStore, StoreContext, StatusChange } from '../../../src/store/callback-store.js';

export type Pruning = 'not in work' | 'not what works have seen' | 'all';

/** What a kind of store can be put through. */
export interface StoreUnderTest<Tx = unknown> {
  readonly name: string;
  /** Whether it answers `busy` before it looks for a duplicate: Postgres waits for the payment's row. */
  readonly busyFirst: boolean;
  /** Whether a delivery can be under way while others come; a PGlite is one connection. */
  readonly concurrent: boolean;
  /**
   * What becomes of a holder that is taken for dead: its claim `expires` and is there for the taking,
   * or is `dropped` at once, with its work undone. Without it nothing can be.
   */
  readonly death?: 'expires' | 'dropped';
  /**
   * What `pruneAll` forgets of payments in work: nothing, or their changes and when the latest of
   * them happened. What goes by age alone forgets both, or the latest only until the work that has seen it
   * is recorded: with that, MySQL stores the latest again.
   */
  readonly prunes?: Pruning;
  /** A fresh, empty inbox in its own `namespace`. */
  create(namespace: string): Promise<OpenStore<Tx>>;
}

export interface OpenStore<Tx = unknown> {
  /** Two, as two processes would have them, where the store is not of one process. */
  readonly inboxes: readonly CallbackStore<Tx>[];
  /** Takes the holder for dead. */
  kill?(event: StatusChange): Promise<void>;
  /** Forgets everything, or everything that is not in work. */
  pruneAll?(): Promise<void>;
  /** Forgets what is older than anything is: nothing. */
  pruneNothing?(): Promise<void>;
  /** Writes an effect with the inbox's own transaction, where it has one. */
  writeEffect?(context: StoreContext<Tx>, event: StatusChange): Promise<void>;
  /** The keys of the effects that are there. */
  readEffects?(): Promise<readonly string[]>;
  close?(): Promise<void>;
}
