import { date } from '../protocol/options.js';
import type { Attention, AttentionOptions } from './attention.js';
import type { CallbackTables } from './backend.js';
import type { ChangeResult, ManagedStore, StatusChange, StoreContext } from './callback-store.js';
import { readChange } from './change.js';
import { itemChanged } from './errors.js';
import { listAttention } from './list-attention.js';
import { forget } from './listed-item.js';

/** A store without a client, over any backend. */
export class ManagedEngine<Tx> implements ManagedStore<Tx> {
  readonly #backend: CallbackTables<Tx>;
  readonly #lifetimeMs: number;

  constructor(backend: CallbackTables<Tx>, lifetimeMs: number) {
    this.#backend = backend;
    this.#lifetimeMs = lifetimeMs;
  }

  async process(
    change: StatusChange,
    work: (context: StoreContext<Tx>) => Promise<void>,
  ): Promise<ChangeResult> {
    return this.#backend.process(readChange(change, this.#backend.forms), work);
  }

  attention(options?: AttentionOptions): AsyncIterable<Attention> {
    return listAttention(this.#backend, this.#lifetimeMs, options);
  }

  async discard(item: Attention): Promise<void> {
    const isChanged = await forget(this.#backend, item);
    if (isChanged) throw itemChanged();
  }

  async setup(): Promise<void> {
    return this.#backend.setup();
  }

  async prune(olderThan: Date): Promise<number> {
    return this.#backend.prune(date(olderThan, 'olderThan').getTime());
  }
}
