import type { InboxContext } from './inbox.js';

/** What work is given. The signal is made when it is asked for: it costs more than the rest, and most work never looks. */
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
