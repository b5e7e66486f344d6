import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { PaymentClient } from '../../src/client/payment-client.js';
import type { CallbackInbox } from '../../src/inbox/inbox.js';
import { postgresInbox } from '../../src/inbox/postgres/postgres-inbox.js';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.js';
import type { PaymentOutbox } from '../../src/outbox/outbox.js';
import { postgresOutbox } from '../../src/outbox/postgres/postgres-outbox.js';
import { sqliteOutbox } from '../../src/outbox/sqlite/sqlite-outbox.js';
import { startPostgres } from '../services/start-postgres.js';
import { cleanUpAtExit } from '../services/throwaway-server.js';
import { LEASE_MS, type OutboxKind } from './outbox-config.js';
import { openSqlite } from './sqlite-file.js';

interface Opened {
  readonly outbox: PaymentOutbox & { setup(): unknown };
  readonly inbox: CallbackInbox<unknown> & { setup(): unknown };
  close(): unknown;
}

/** Inbox and outbox over one store, as each process has them. */
export function openStore(kind: OutboxKind, url: string, client: PaymentClient): Opened {
  const options = { client, leaseMs: LEASE_MS };
  if (kind === 'sqlite') {
    const database = openSqlite(url, { timeoutMs: 0 });
    return {
      outbox: sqliteOutbox(database, options),
      inbox: sqliteInbox(database, { leaseMs: LEASE_MS }) as CallbackInbox<unknown> & {
        setup(): void;
      },
      close: () => database.close(),
    };
  }
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  pool.on('error', () => {});
  return {
    outbox: postgresOutbox(pool, options),
    inbox: postgresInbox(pool) as CallbackInbox<unknown> & { setup(): Promise<void> },
    close: () => pool.end(),
  };
}

/** A database of the run's own. */
export async function startOutboxStore(
  kind: OutboxKind,
): Promise<{ url: string; stop(): Promise<void> | void }> {
  if (kind === 'postgres') return startPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'test-outbox-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const forget = cleanUpAtExit(remove);
  return {
    url: join(folder, 'shop.db'),
    stop() {
      forget();
      remove();
    },
  };
}
