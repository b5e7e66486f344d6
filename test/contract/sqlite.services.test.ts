import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { sqliteInbox } from '../../src/sqlite/inbox-sqlite-inbox.js';
import { sqliteOutbox } from '../../src/sqlite/outbox-sqlite-outbox.js';
import type { SqliteDatabase } from '../../src/sqlite/database.js';
import { toStoredName } from '../../src/store/stored-name.js';
import { drivers, type OpenDatabase } from '../inbox/sqlite/open-database.js';
import { unusedClient } from '../outbox/unused-client.js';
import { describeInboxContract } from './inbox.js';
import { describeOutboxContract } from './outbox.js';

// Short, as cases wait for a renewal, and for three leases; long enough for a loaded machine.
const leaseMs = 1_000;

describe.each(drivers)('$name:', ({ open }) => {
  const databases: OpenDatabase[] = [];
  let folder: string;
  // Each has its own connection, as each process does.
  const connect = () => {
    const database = open(join(folder, 'shop.db'));
    databases.push(database);
    return database;
  };
  let shop: OpenDatabase;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sqlite-contract-'));
    shop = connect();
    sqliteInbox(shop).setup();
    sqliteOutbox(shop, { client: unusedClient }).setup();
  });
  afterAll(() => {
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true });
  });

  describeInboxContract('sqliteInbox', () => ({
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
  }));

  let created = 0;
  describeOutboxContract<SqliteDatabase | undefined>('sqliteOutbox', () => ({
    create(client) {
      created += 1;
      return sqliteOutbox(created % 2 === 0 ? connect() : shop, { client });
    },
    loseLease() {
      shop.exec(
        `UPDATE payment_outbox_payments SET lease_until_ms = 0 WHERE state IN ('sending', 'unresolved')`,
      );
    },
  }));
});
