import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.js';
import { toStoredName } from '../../../src/storage/stored-name.js';
import { runContract } from '../contract/run-contract.js';
import { drivers, type OpenDatabase } from './open-database.js';

// Short, as cases wait for a renewal, and for three leases; long enough for a loaded machine.
const leaseMs = 1_000;

describe.each(drivers)('a SQLite inbox with $name', ({ open }) => {
  const databases: OpenDatabase[] = [];
  let folder: string;
  // Each has its own connection, as each process does.
  const connect = () => {
    const database = open(join(folder, 'inbox.db'));
    databases.push(database);
    return database;
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sqlite-contract-'));
    sqliteInbox(connect()).setup();
  });
  afterAll(() => {
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true });
  });

  runContract({
    create: () => sqliteInbox(connect(), { leaseMs, keepBodies: true }),
    leaseMs,
    waitMs: 0,
    keepsFailures: true,
    keepsBodies: true,
    loseClaim({ paymentReference }) {
      // Another owner: a holder that still lives could renew a claim that has only expired.
      connect()
        .prepare(
          `UPDATE payment_inbox_payments SET owner = 'nobody', owner_until_ms = 0 WHERE reference = ?`,
        )
        .run(toStoredName(paymentReference));
    },
  });
});
