import type { ManagedStore } from '../callback-store.js';
import { createStore } from '../create-store.js';
import type { ResolvedServerOptions } from './server-options.js';
import { ServerSession } from './server-session.js';
import { SqlBackend } from './sql-backend.js';
import { TransactionProcess } from './transaction-process.js';
import type { StoreServer } from './transactions.js';

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
