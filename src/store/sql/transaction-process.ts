import type { ChangeResult, StoreContext } from '../callback-store.js';
import type { Change } from '../change.js';
import {
  failureOf,
  isNews,
  isOfAnother,
  type Judged,
  judge,
  type KeptFailure,
  toFailed,
} from '../change-steps.js';
import { WorkContext } from '../loss.js';
import { parseSeenChange, unknownRow } from '../rows.js';
import { ChangeStatements } from './change-statements.js';
import { onceMore } from './once-more.js';
import type { ResolvedServerOptions } from './server-options.js';
import { walk } from './session.js';
import type { ClaimLimits, Ending, OpenTransaction, StoreServer } from './transactions.js';
import { Turns } from './turns.js';

type Options = Pick<ResolvedServerOptions, 'client' | keyof ClaimLimits>;

const MAX_REMEMBERED = 1_000;

type Work<Tx> = (context: StoreContext<Tx>) => Promise<void>;

/** What is known of a delivery when its transaction fails. */
interface Progress {
  judged?: Judged;
  /** The work's error. */
  failed?: { readonly error: unknown };
}

/**
 * Processes changes in a server's transactions: one message locks the order and reads, the work runs, and one message
 * records the change, settles its payment and commits. If the work fails, its writes are undone, and the failure and
 * the settling are committed in the same transaction, so that a change that waits behind this one sees them.
 */
export class TransactionProcess<Tx> {
  readonly #server: StoreServer<Tx>;
  readonly #options: Options;
  readonly #statements: ChangeStatements;
  readonly #turns = new Turns();
  /** The names of the changes that were processed last, of which most deliveries are duplicates. */
  readonly #processed = new Set<string>();

  /** Whether the order of the next change most likely has a row: it is then locked at a lower cost. */
  #expectsOrder: boolean;

  constructor(server: StoreServer<Tx>, options: Options) {
    this.#server = server;
    this.#options = options;
    this.#statements = new ChangeStatements(server.dialect);
    this.#expectsOrder = this.#createsPayments;
  }

  /** If so, the order of a change has a row. */
  get #createsPayments(): boolean {
    return this.#options.client !== undefined;
  }

  async process(change: Change, work: Work<Tx>): Promise<ChangeResult> {
    const { connections } = this.#server;
    const { merchantPaymentReference, key } = change;
    // Different changes of an order wait at the server, which knows all processes.
    const name = connections.isSingle
      ? merchantPaymentReference
      : `${merchantPaymentReference} ${key}`;
    const delivered = await this.#turns.take(name, this.#options.lockTimeoutMs, async (leftMs) => {
      if (this.#processed.has(change.fullNames) && (await this.#isKnown(change))) {
        return { outcome: 'duplicate' } as const;
      }
      return this.#deliver(change, work, leftMs);
    });
    if (delivered === undefined) return { outcome: 'busy' };
    if (delivered.outcome === 'processed') this.#remember(change);
    return delivered;
  }

  #remember({ fullNames }: Change): void {
    if (!this.#server.readsCommitted) return;
    this.#processed.add(fullNames);
    const [oldest = ''] = this.#processed;
    if (this.#processed.size > MAX_REMEMBERED) this.#processed.delete(oldest);
  }

  /** Whether a change is processed and says nothing new, which one SELECT shows without a transaction and its lock. */
  async #isKnown(change: Change): Promise<boolean> {
    try {
      const rows = await this.#server.connections.read(this.#statements.read(change));
      const seen = parseSeenChange(rows, change);
      if (seen === undefined || isOfAnother(seen.row, change)) return false;
      // Only its order knows which payment has paid it.
      if (seen.row?.order !== undefined) return false;
      const judged = judge(seen, change);
      return judged.verdict === 'duplicate' && !isNews(judged);
    } catch {
      // The transaction will fail too, or will not.
      return false;
    }
  }

  async #deliver(change: Change, work: Work<Tx>, lockTimeoutMs: number): Promise<ChangeResult> {
    const progress: Progress = {};
    const run = (isKnown: boolean) =>
      this.#server.connections.run(
        async (transaction): Promise<Ending<ChangeResult | undefined>> => {
          const judged = await this.#claim(transaction, change, lockTimeoutMs, isKnown);
          if (judged === 'no-order') return { end: 'rollback', result: undefined };
          return this.#inTransaction(transaction, change, work, judged, progress);
        },
      );
    const runOnce = async () =>
      (this.#expectsOrder && (await run(true))) || ((await run(false)) as ChangeResult);
    try {
      // Nothing is recorded before the work runs.
      return await onceMore(
        runOnce,
        (error) => progress.judged === undefined && this.#server.failures.isLost(error),
      );
    } catch (thrown) {
      const { failed, judged } = progress;
      const error = failed === undefined ? this.#server.failures.explain(thrown) : failed.error;
      if (judged === undefined) throw error;
      return this.#failApart(change, judged, error);
    }
  }

  async #inTransaction(
    transaction: OpenTransaction<Tx>,
    change: Change,
    work: Work<Tx>,
    judged: Judged | 'busy',
    progress: Progress,
  ): Promise<Ending<ChangeResult>> {
    if (judged === 'busy') return { end: 'rollback', result: { outcome: 'busy' } };
    const { verdict } = judged;
    if (verdict !== 'run') return this.#end({ outcome: verdict }, change, judged, undefined);
    progress.judged = judged;
    try {
      await transaction.runWork((tx) => work(new WorkContext(tx, judged, transaction)));
    } catch (error) {
      progress.failed = { error };
      const kept = failureOf(change, judged, error);
      return this.#end(toFailed(error, kept), change, judged, kept);
    }
    const statements = this.#statements.record(change, judged);
    return { end: 'commit', result: { outcome: 'processed' }, undo: false, statements };
  }

  /** `busy` if another transaction holds the order; `no-order` if it was expected to have a row, and has none. */
  async #claim(
    transaction: OpenTransaction<Tx>,
    change: Change,
    lockTimeoutMs: number,
    isKnown: boolean,
  ): Promise<Judged | 'busy' | 'no-order'> {
    const statements = this.#statements;
    const askedAtMs = performance.now();
    try {
      const rows = await transaction.begin(
        { ...this.#options, lockTimeoutMs },
        isKnown ? statements.claimKnown(change) : statements.claim(change),
      );
      const seen = await walk(
        () => statements.see(change, rows),
        (statement) => transaction.ask(statement),
      );
      if (seen !== undefined) {
        // Others may come from where this one was created.
        this.#expectsOrder ||= this.#createsPayments && seen.row?.state !== 'elsewhere';
        return judge(seen, change);
      }
      if (isKnown) {
        this.#expectsOrder = false;
        return 'no-order';
      }
      // The order has a row, which something hides.
      throw unknownRow();
    } catch (error) {
      const waitedMs = performance.now() - askedAtMs;
      if (this.#server.failures.isBusy(error, { waitedMs, lockTimeoutMs })) return 'busy';
      throw error;
    }
  }

  /** Ends without the work's writes: what the callback says of the payment is true anyway. */
  #end(
    result: ChangeResult,
    change: Change,
    judged: Judged,
    kept: KeptFailure | undefined,
  ): Ending<ChangeResult> {
    const statements = [
      ...this.#statements.settle(change, judged),
      ...(kept === undefined ? [] : [this.#statements.keep(change, judged, kept)]),
    ];
    if (statements.length === 0) return { end: 'rollback', result };
    return { end: 'commit', result, undo: true, statements };
  }

  /** Stores a failure after its transaction was lost. */
  async #failApart(change: Change, before: Judged, error: unknown): Promise<ChangeResult> {
    const { lockTimeoutMs } = this.#options;
    const nothingKept = toFailed(error, undefined);
    if (failureOf(change, before, error) === undefined && !isNews(before)) return nothingKept;
    try {
      return await this.#server.connections.run<ChangeResult>(async (transaction) => {
        const judged = await this.#claim(transaction, change, lockTimeoutMs, false);
        if (typeof judged === 'string') throw new Error('another transaction holds the order');
        if (judged.verdict === 'duplicate') return { end: 'rollback', result: nothingKept };
        const kept = failureOf(change, judged, error);
        return this.#end(toFailed(error, kept), change, judged, kept);
      });
    } catch (storeError) {
      return { ...nothingKept, notKept: this.#server.failures.explain(storeError) };
    }
  }
}
