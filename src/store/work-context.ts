import type { StoreContext } from './callback-store.js';

/** The argument of `work`. Its signal is created on first use, because it is expensive and most work never reads it. */
export class WorkContext<Tx> implements StoreContext<Tx> {
  readonly tx: Tx;
  readonly stale: boolean;
  readonly current: boolean;
  readonly secondPayment: boolean;
  readonly #transaction: { readonly signal: AbortSignal };

  constructor(
    tx: Tx,
    { stale, current, secondPayment = false }: Omit<StoreContext<Tx>, 'tx' | 'signal'>,
    transaction: { readonly signal: AbortSignal },
  ) {
    this.tx = tx;
    this.stale = stale;
    this.current = current;
    this.secondPayment = secondPayment;
    this.#transaction = transaction;
  }

  get signal(): AbortSignal {
    return this.#transaction.signal;
  }
}
