import type { ManagedStore } from '../callback-store.js';
import { createStore } from '../create-store.js';
import { ChangeStatements } from './change-statements.js';
import type { Dialect } from './dialect.js';
import type { ServerFailures } from './server-failures.js';
import type { ResolvedServerOptions } from './server-options.js';
import { ServerSession } from './server-session.js';
import { SqlBackend } from './sql-backend.js';
import { TransactionProcess } from './transaction-process.js';
import type { Connections } from './transactions.js';

/** A database server, as a store uses it. */
export interface StoreServer<Tx> {
  readonly connections: Connections<Tx>;
  readonly dialect: Dialect;
  readonly failures: ServerFailures;
  /** Whether a SELECT outside a transaction returns only what is committed, whatever the session's defaults are. */
  readonly readsCommitted: boolean;
  /** Creates what is missing. */
  setup(): Promise<void>;
  /**
   * Cancels the statement that begins with a comment with this owner, which the server still runs although its sender
   * has given up.
   */
  cancel(owner: string, read: (statement: string) => Promise<readonly string[]>): Promise<unknown>;
}

/** The store in the tables of a database server. */
export function serverStore<Tx>(
  server: StoreServer<Tx>,
  options: ResolvedServerOptions,
): ManagedStore<Tx> {
  const { dialect, failures } = server;
  const processing = new TransactionProcess({
    ...server,
    statements: new ChangeStatements(dialect),
    expectsOrders: options.client !== undefined,
    limits: options,
    keepBodies: options.keepBodies,
    isBusy: (error, wait) => failures.isBusy(error, wait),
    isDead: (error) => failures.isLost(error),
    explain: (error) => failures.explain(error),
  });
  const session = new ServerSession({ ...server, timeouts: options });
  const backend = new SqlBackend<Tx>({
    session,
    dialect,
    process: (change, work) => processing.process(change, work),
    needsTransaction: true,
  });
  return createStore(backend, options);
}
