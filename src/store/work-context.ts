import type { InboxContext } from './inbox.js';

/** The argument of `work`. Its signal is created on first use, because it is expensive and most work never reads it. */
export class WorkContext<Tx> implements InboxContext<Tx> {
  readonly tx: Tx;
  readonly stale: boolean;
  readonly #transaction: { readonly signal: AbortSignal };

  constructor(tx: Tx, stale: boolean, transaction: { readonly signal: AbortSignal }) {
    this.tx = tx;
    this.stale = stale;
    this.#transaction = transaction;
  }

  get signal(): AbortSignal {
    return this.#transaction.signal;
  }
}
