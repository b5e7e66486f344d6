import { failures } from '../../src/postgres/failures.js';
import { resolveOptions } from '../../src/protocol/options.js';
import { readColumn } from '../../src/sqlite/database.js';
import { sqliteDialect } from '../../src/sqlite/dialect.js';
import { serverStoreRules } from '../../src/store/sql/server-options.js';
import { serverStore } from '../../src/store/sql/server-store.js';
import type { Connections, Ending, OpenTransaction } from '../../src/store/sql/transactions.js';
import type { Instance } from './instance.js';
import { PREFIX, tables } from './tables-in-sqlite.js';

/** Writes of the merchant's, in the store's transaction. */
export interface Tx {
  write(key: string, current: boolean): void;
}

const rules = resolveOptions({ prefix: PREFIX }, serverStoreRules);

/**
 * A server whose connections are lost: a transaction begins when no other one is open, as if each had locked the order's
 * row, and everything about it happens as the explorer wants.
 */
export class Server {
  #open: Transaction | undefined;
  #lossesLeft: number;

  constructor({ losses = 0 }: { readonly losses?: number | undefined }) {
    this.#lossesLeft = losses;
  }

  /** The store of a process. */
  store(instance: Instance) {
    const connections: Connections<Tx> = {
      run: (body) => new Transaction(this, instance).run(body),
      read: async () => [],
      change: unused,
      runIn: unused,
    };
    const dialect = sqliteDialect(PREFIX, () => 0);
    const server = {
      ...{ connections, dialect, failures, readsCommitted: false },
      setup: unused,
      cancel: unused,
    };
    return serverStore(server, rules);
  }

  get isFree(): boolean {
    return this.#open === undefined;
  }

  begin(transaction: Transaction): void {
    this.#open = transaction;
    tables.exec('BEGIN IMMEDIATE');
  }

  end(transaction: Transaction, how: 'COMMIT' | 'ROLLBACK'): void {
    if (!this.isOpen(transaction)) return;
    tables.exec(how);
    this.#open = undefined;
  }

  isOpen(transaction: Transaction): boolean {
    return this.#open === transaction;
  }

  /** The database hears that a process is dead. */
  forget(instance: Instance): void {
    if (this.#open?.instance === instance) this.end(this.#open, 'ROLLBACK');
  }

  /** What may be lost at a step. */
  mayLose(...labels: readonly string[]): readonly string[] {
    return this.#lossesLeft > 0 ? labels : [];
  }

  /** The instance whose transaction is open, unless no connection may be lost any more. */
  get mayLoseNow(): Instance | undefined {
    return this.#lossesLeft > 0 ? this.#open?.instance : undefined;
  }

  /** The connection of the open transaction is lost. */
  lose(): void {
    this.#open?.lose();
  }

  countLoss(): void {
    this.#lossesLeft -= 1;
  }

  /** The work ends its transaction itself. */
  endItself(instance: Instance, how: 'COMMIT' | 'ROLLBACK'): void {
    if (this.#open?.instance === instance) this.end(this.#open, how);
  }

  state(): unknown {
    return [this.#open?.instance.actor, this.#lossesLeft];
  }
}

const unused = () => Promise.reject(new Error('not used to process a change'));

class Transaction implements OpenTransaction<Tx>, Tx {
  readonly instance: Instance;
  readonly signal = new AbortController().signal;
  readonly #server: Server;
  readonly #lost: Promise<never>;
  #reject: (reason: Error) => void = () => undefined;
  #hasBegun = false;

  constructor(server: Server, instance: Instance) {
    this.#server = server;
    this.instance = instance;
    this.#lost = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#lost.catch(() => undefined);
  }

  get tx(): Tx {
    return this;
  }

  async run<Result>(
    body: (transaction: OpenTransaction<Tx>) => Promise<Ending<Result>>,
  ): Promise<Result> {
    try {
      const ending = await Promise.race([body(this), this.#lost]);
      if (ending.end === 'commit') await this.#commit(ending);
      return ending.result;
    } finally {
      this.#server.end(this, 'ROLLBACK');
    }
  }

  async begin(_limits: unknown, statements: readonly string[]): Promise<readonly string[]> {
    if (!this.#hasBegun) await this.#begin();
    const texts = statements.flatMap((statement) => this.#ask(statement));
    tables.exec('SAVEPOINT work');
    return texts;
  }

  async #begin(): Promise<void> {
    const server = this.#server;
    const how = await this.instance.step(() => [
      server.isFree ? 'locks the order' : 'waits too long',
      ...server.mayLose('finds a dead connection'),
    ]);
    if (how === 'waits too long') throw Object.assign(new Error(how), { code: '55P03' });
    if (how !== 'locks the order') {
      server.countLoss();
      throw failures.lostBeforeBegin(new Error(how));
    }
    server.begin(this);
    this.#hasBegun = true;
  }

  async ask(statement: string): Promise<readonly string[]> {
    return this.#ask(statement);
  }

  #ask(statement: string): readonly string[] {
    this.#assertOpen();
    const prepared = tables.prepare(statement);
    if (!statement.startsWith('SELECT')) {
      prepared.run();
      return [];
    }
    const texts = readColumn(prepared.all()) as readonly string[];
    this.instance.seen.push(texts);
    return texts;
  }

  write(key: string, current: boolean): void {
    this.#assertOpen();
    tables.write(key, current);
  }

  #assertOpen(): void {
    if (!this.#server.isOpen(this)) throw new Error('the transaction is not open');
  }

  async runWork(work: (tx: Tx) => Promise<void>): Promise<void> {
    await work(this);
    if (!this.#server.isOpen(this)) throw failures.transactionEnded();
  }

  lose(): void {
    this.#server.countLoss();
    this.#server.end(this, 'ROLLBACK');
    this.#reject(failures.connectionLost(new Error('the connection was lost')));
  }

  async #commit(ending: Extract<Ending<unknown>, { end: 'commit' }>): Promise<void> {
    const server = this.#server;
    if (!server.isOpen(this)) throw failures.transactionEnded();
    const how = await this.instance.step(() => [
      'commits',
      ...server.mayLose('is lost before its COMMIT', 'is lost after its COMMIT'),
    ]);
    if (how !== 'commits') server.countLoss();
    if (how !== 'is lost before its COMMIT') {
      for (const statement of ending.statements) this.#ask(statement);
      server.end(this, 'COMMIT');
    }
    if (how !== 'commits') throw failures.endUnknown(new Error(how));
  }
}
