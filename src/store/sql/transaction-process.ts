import type { ChangeResult, StoreContext } from '../callback-store.js';
import type { Change } from '../change.js';
import { failureOf, isNews, type Judged, judge, toFailed } from '../change-steps.js';
import { WorkContext } from '../loss.js';
import { unknownRow } from '../rows.js';
import { ChangeStatements } from './change-statements.js';
import { onceMore } from './once-more.js';
import { walk } from './session.js';
import type { Ending, OpenTransaction, ServerTimeouts, StoreServer } from './transactions.js';
import { Turns } from './turns.js';

type Work<Tx> = (context: StoreContext<Tx>) => Promise<void>;

/**
 * Processes changes in a server's transactions: one message locks the order and reads, the work runs, and one message
 * records the change, settles its payment and commits. If the work fails, or its transaction is lost, all of it is rolled
 * back, and a transaction of its own keeps the failure and settles the payment.
 */
export class TransactionProcess<Tx> {
  readonly #server: StoreServer<Tx>;
  readonly #lockTimeoutMs: number;
  readonly #statements: ChangeStatements;
  readonly #turns = new Turns();

  constructor(server: StoreServer<Tx>, { lockTimeoutMs }: Pick<ServerTimeouts, 'lockTimeoutMs'>) {
    this.#server = server;
    this.#lockTimeoutMs = lockTimeoutMs;
    this.#statements = new ChangeStatements(server.dialect);
  }

  async process(change: Change, work: Work<Tx>): Promise<ChangeResult> {
    const { merchantPaymentReference, key } = change;
    // Different changes of an order wait at the server, which knows all processes.
    const name = `${merchantPaymentReference} ${key}`;
    const waiting = this.#turns.enter(name, this.#lockTimeoutMs);
    const leftMs = waiting === undefined ? this.#lockTimeoutMs : await waiting;
    if (leftMs === undefined) return { outcome: 'busy' };
    try {
      return await this.#deliver(change, work, leftMs);
    } finally {
      this.#turns.leave(name);
    }
  }

  async #deliver(change: Change, work: Work<Tx>, lockTimeoutMs: number): Promise<ChangeResult> {
    const { connections, failures } = this.#server;
    let running: Judged | undefined;
    let failed: { readonly error: unknown } | undefined;
    const deliver = () =>
      connections.run<ChangeResult>(async (transaction) => {
        const judged = await this.#claim(transaction, change, lockTimeoutMs);
        if (judged === undefined) return end({ outcome: 'busy' }, []);
        const { verdict } = judged;
        // What the callback says of its payment is true, whatever becomes of the work.
        if (verdict !== 'run') {
          return end({ outcome: verdict }, this.#statements.settle(change, judged));
        }
        running = judged;
        try {
          await transaction.runWork((tx) => work(new WorkContext(tx, judged, transaction)));
        } catch (error) {
          failed = { error };
          throw error;
        }
        return end({ outcome: 'processed' }, this.#statements.record(change, judged));
      });
    // Nothing is recorded before the work runs.
    const mayRepeat = (error: unknown) =>
      running === undefined && (failures.isLost(error) || failures.isUndone(error));
    try {
      return await onceMore(deliver, mayRepeat);
    } catch (thrown) {
      const error = failed === undefined ? failures.explain(thrown) : failed.error;
      if (running === undefined) throw error;
      return this.#keepFailure(change, running, error);
    }
  }

  /** Locks the order; undefined if another transaction holds it. */
  async #claim(
    transaction: OpenTransaction<Tx>,
    change: Change,
    lockTimeoutMs: number,
  ): Promise<Judged | undefined> {
    const statements = this.#statements;
    const see = (rows: readonly string[]) =>
      walk(
        () => statements.see(change, rows),
        (statement) => transaction.ask(statement),
      );
    try {
      // As a rule, the order has a row.
      const known = await transaction.begin(lockTimeoutMs, statements.claimKnown(change));
      const seen =
        (await see(known)) ??
        (await see(await transaction.begin(lockTimeoutMs, statements.claim(change))));
      // The order has a row now, which something hides.
      if (seen === undefined) throw unknownRow();
      return judge(seen, change);
    } catch (error) {
      if (this.#server.failures.isBusy(error)) return undefined;
      throw error;
    }
  }

  /** Keeps a failure, and settles the payment. */
  async #keepFailure(change: Change, before: Judged, error: unknown): Promise<ChangeResult> {
    const failed = toFailed(error, undefined);
    if (failureOf(change, before, error) === undefined && !isNews(before)) return failed;
    const { connections, failures } = this.#server;
    try {
      return await connections.run<ChangeResult>(async (transaction) => {
        const judged = await this.#claim(transaction, change, this.#lockTimeoutMs);
        if (judged === undefined) throw new Error('another transaction holds the order');
        // Another delivery has processed it since.
        if (judged.verdict === 'duplicate') return { end: 'rollback', result: failed };
        const kept = failureOf(change, judged, error);
        const statements = [...this.#statements.settle(change, judged)];
        if (kept !== undefined) statements.push(this.#statements.keep(change, judged, kept));
        return end(toFailed(error, kept), statements);
      });
    } catch (storeError) {
      return { ...failed, notKept: failures.explain(storeError) };
    }
  }
}

function end(result: ChangeResult, statements: readonly string[]): Ending<ChangeResult> {
  return statements.length === 0
    ? { end: 'rollback', result }
    : { end: 'commit', result, statements };
}
