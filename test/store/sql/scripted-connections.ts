import { vi } from 'vitest';
import { postgresDialect } from '../../../src/postgres/dialect.js';
import type { ServerFailures } from '../../../src/store/sql/server-failures.js';
import { TransactionProcess } from '../../../src/store/sql/transaction-process.js';
import type {
  ClaimLimits,
  Connections,
  OpenTransaction,
} from '../../../src/store/sql/transactions.js';
import { unusedClient } from '../unused-client.js';

export type Column = string | number | null;

/** What a server answers in one transaction. */
export interface Script {
  /** What the claim reads. */
  readonly seen?: readonly (readonly Column[])[];
  /** Why the claim fails. */
  readonly claimError?: Error;
  /** Why the transaction is lost while its body runs, at the word of the test. */
  readonly loss?: Promise<never>;
  /** Why its end fails. */
  readonly endError?: Error;
}

export const NEW_ORDER: readonly Column[] = [
  'order',
  'elsewhere',
  null,
  null,
  null,
  null,
  '',
  null,
  null,
];
export const UNRESOLVED = NEW_ORDER.with(1, 'unresolved');

export const busy = new Error('busy');
export const dead = new Error('dead');

/** What tests choose of a server. */
export interface Scripted {
  readonly isSingle: boolean;
  readonly readsCommitted: boolean;
  readonly expectsOrders: boolean;
  readonly limits: ClaimLimits;
  readonly isBusy: ServerFailures['isBusy'];
  readonly explain: ServerFailures['explain'];
}

const LIMITS = { lockTimeoutMs: 60_000, commandTimeoutMs: 60_000, idleTimeoutMs: 60_000 };

/** A server's transactions, as scripted, and how each has ended: what it has written, in words. */
export class ScriptedServer {
  readonly #scripts: Script[];
  /** Of each transaction. */
  readonly ended: string[] = [];
  /** The first statement of each claim. */
  readonly claims: string[] = [];
  /** What a SELECT outside a transaction returns. */
  readonly read = vi.fn(async (): Promise<string[]> => []);
  readonly process: TransactionProcess<string>;

  constructor(
    scripts: readonly Script[],
    {
      isSingle = false,
      readsCommitted = true,
      expectsOrders = false,
      limits = LIMITS,
      isBusy = (error) => error === busy,
      explain = (error) => new Error('explained', { cause: error }),
    }: Partial<Scripted> = {},
  ) {
    this.#scripts = [...scripts];
    const connections = {
      isSingle,
      run: (body: Parameters<Connections<string>['run']>[0]) => this.#run(body),
      read: this.read,
    };
    const isLost = (error: unknown) => error === dead;
    const server = {
      connections: connections as unknown as Connections<string>,
      dialect: postgresDialect(''),
      failures: { isBusy, isLost, explain } as ServerFailures,
      readsCommitted,
      setup: async () => undefined,
      cancel: async () => undefined,
    };
    const client = expectsOrders ? unusedClient : undefined;
    this.process = new TransactionProcess(server, { ...limits, client });
  }

  get transactions(): number {
    return this.ended.length;
  }

  async #run(body: Parameters<Connections<string>['run']>[0]): Promise<unknown> {
    const script = this.#scripts.shift();
    if (script === undefined) throw new Error('no further transaction was expected');
    const { seen = [NEW_ORDER], claimError, loss, endError } = script;
    const index = this.ended.push('open') - 1;
    const transaction: OpenTransaction<string> = {
      tx: `tx ${index}`,
      signal: new AbortController().signal,
      begin: async (_, [lock = '']) => {
        this.claims.push(lock);
        if (claimError !== undefined) throw claimError;
        return seen.map((row) => JSON.stringify(row));
      },
      ask: async () => [],
      runWork: (work) => work(transaction.tx),
    };
    try {
      const running = body(transaction);
      const ending = await (loss === undefined ? running : Promise.race([running, loss]));
      if (ending.end === 'commit' && endError !== undefined) throw endError;
      this.ended[index] = ending.end;
      if (ending.end === 'commit') {
        const written = ending.statements.map(toWord).join(', ');
        this.ended[index] = `${ending.undo ? 'undo, ' : ''}${written}`;
      }
      return ending.result;
    } catch (error) {
      this.ended[index] = 'lost';
      throw error;
    }
  }
}

function toWord(statement: string): string {
  if (statement.startsWith('UPDATE "payments"')) return 'settle';
  if (statement.startsWith('INSERT INTO "changes"')) return 'record';
  if (statement.startsWith('DELETE FROM "failed_changes"')) return 'forget';
  if (statement.startsWith('INSERT INTO "second_payments"')) return 'list';
  const kept = /^(?:INSERT INTO|UPDATE) "failed_changes"/.exec(statement);
  if (kept === null) throw new Error(`not known: ${statement}`);
  return 'keep';
}
