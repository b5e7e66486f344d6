import type { ChangeResult, ManagedStore, StoreContext } from '../callback-store.js';
import type { Change } from '../change.js';
import {
  type ChangeDecision,
  decideChange,
  failureOf,
  saysSomethingNew,
  toFailed,
} from '../change-steps.js';
import { WorkContext } from '../loss.js';
import { createStore } from '../payment-engine.js';
import { ChangeStatements } from './change-statements.js';
import { unknownRow } from './rows.js';
import type { ResolvedServerOptions, ServerTimeouts } from './server-options.js';
import { onceMore, ServerSession } from './server-session.js';
import { SqlBackend } from './sql-backend.js';
import { type Ending, type OpenTransaction, type StoreServer, walk } from './transactions.js';

type Work<Tx> = (context: StoreContext<Tx>) => Promise<void>;

/**
 * Processes changes in a server's transactions: one message locks the order and reads, the work runs, and one message
 * records the change, settles its payment and commits. A failure is kept in a transaction of its own.
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
    let running: ChangeDecision | undefined;
    let failed: { readonly error: unknown } | undefined;
    const deliver = () =>
      connections.run<ChangeResult>(async (transaction) => {
        const decision = await this.#claim(transaction, change, lockTimeoutMs);
        if (decision === undefined) return end({ outcome: 'busy' }, []);
        const { action } = decision;
        // What the callback says of its payment is true, whatever becomes of the work.
        if (action !== 'run') {
          return end({ outcome: action }, this.#statements.settle(change, decision));
        }
        running = decision;
        try {
          await transaction.runWork((tx) => work(new WorkContext(tx, decision, transaction)));
        } catch (error) {
          failed = { error };
          throw error;
        }
        return end({ outcome: 'processed' }, this.#statements.record(change, decision));
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
  ): Promise<ChangeDecision | undefined> {
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
      return decideChange(seen, change);
    } catch (error) {
      if (this.#server.failures.isBusy(error)) return undefined;
      throw error;
    }
  }

  /** Keeps a failure, and settles the payment. */
  async #keepFailure(
    change: Change,
    before: ChangeDecision,
    error: unknown,
  ): Promise<ChangeResult> {
    const failed = toFailed(error, undefined);
    if (failureOf(change, before, error) === undefined && !saysSomethingNew(before)) return failed;
    const { connections, failures } = this.#server;
    try {
      return await connections.run<ChangeResult>(async (transaction) => {
        const decision = await this.#claim(transaction, change, this.#lockTimeoutMs);
        if (decision === undefined) throw new Error('another transaction holds the order');
        // Another delivery has processed it since.
        if (decision.action === 'duplicate') return { end: 'rollback', result: failed };
        const kept = failureOf(change, decision, error);
        const statements = [...this.#statements.settle(change, decision)];
        if (kept !== undefined) statements.push(...this.#statements.keep(change, decision, kept));
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

/**
 * Lets one delivery of a change at a time run in this process; the others wait in order. Otherwise each would take a
 * connection and wait for the first, and the pool would have none left for other payments.
 */
class Turns {
  /** Those that wait for the turn of each name that is taken. */
  readonly #queues = new Map<string, (() => void)[]>();

  /** Undefined if the turn was free. Else resolves with the rest of `timeoutMs`, at least 1, or with undefined for none. */
  enter(name: string, timeoutMs: number): Promise<number | undefined> | undefined {
    const queue = this.#queues.get(name);
    if (queue !== undefined) return waitIn(queue, timeoutMs);
    this.#queues.set(name, []);
    return undefined;
  }

  leave(name: string): void {
    const next = this.#queues.get(name)?.shift();
    if (next === undefined) this.#queues.delete(name);
    else next();
  }
}

function waitIn(queue: (() => void)[], timeoutMs: number): Promise<number | undefined> {
  const queuedAtMs = performance.now();
  return new Promise((resolve) => {
    const proceed = (): void => {
      clearTimeout(timer);
      resolve(Math.max(1, timeoutMs - Math.ceil(performance.now() - queuedAtMs)));
    };
    const giveUp = (): void => {
      queue.splice(queue.indexOf(proceed), 1);
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    queue.push(proceed);
  });
}

/** The store in the tables of a database server. */
export function serverStore<Tx>(
  server: StoreServer<Tx>,
  options: ResolvedServerOptions,
): ManagedStore<Tx> {
  const processing = new TransactionProcess(server, options);
  const backend = new SqlBackend<Tx>({
    session: new ServerSession(server, options),
    dialect: server.dialect,
    process: (change, work) => processing.process(change, work),
    needsTransaction: true,
  });
  return createStore(backend, options);
}
