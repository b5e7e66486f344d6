import { date } from '../protocol/options.js';
import type { Attention, AttentionOptions } from './attention.js';
import type { Backend } from './backend.js';
import type { ChangeOutcome, ManagedStore, StatusChange, StoreContext } from './callback-store.js';
import { readChange } from './change.js';
import { discard } from './discard.js';
import { listAttention } from './list-attention.js';

/** A store without a client, over any backend. */
export class ManagedEngine<Tx> implements ManagedStore<Tx> {
  protected readonly backend: Backend<Tx>;
  readonly keepsBodies: boolean;

  constructor(backend: Backend<Tx>, { keepBodies }: { readonly keepBodies: boolean }) {
    this.backend = backend;
    this.keepsBodies = keepBodies;
  }

  async process(
    change: StatusChange,
    work: (context: StoreContext<Tx>) => Promise<void>,
  ): Promise<ChangeOutcome> {
    return this.backend.process(readChange(change, this.backend.forms), work);
  }

  attention(options?: AttentionOptions): AsyncIterable<Attention> {
    return listAttention(this.backend, options);
  }

  async discard(item: Attention): Promise<void> {
    return discard(this.backend, item);
  }

  async setup(): Promise<void> {
    return this.backend.setup();
  }

  async prune(olderThan: Date): Promise<number> {
    return this.backend.prune(date(olderThan, 'olderThan').getTime());
  }
}
