import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { sqliteStore } from '../../src/sqlite/index.js';
import { databaseForms } from '../../src/store/sql/sql.js';
import { drivers, type OpenDatabase } from '../sqlite/open-database.js';
import { letPassOf } from './let-pass.js';
import type { ContractOptions } from './store.js';
import { describeCallbackStore, describeStore } from './store.js';

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
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sqlite-contract-'));
    shop = connect();
    await sqliteStore(shop).setup();
  });
  afterAll(() => {
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true });
  });

  describeCallbackStore('sqliteStore without a client', () => ({
    create: () => sqliteStore(connect()),
    withLease: (leaseMs) => sqliteStore(connect(), { leaseMs }),
    waitMs: 0,
    loseClaim({ payment }) {
      // Another owner: a holder that still lives could renew a claim that has only expired.
      connect()
        .prepare(
          `UPDATE payment_store_claims SET owner = 'nobody', until_ms = 0 WHERE merchant_payment_reference = ?`,
        )
        .run(databaseForms.toName(payment.merchantPaymentReference));
    },
  }));

  let created = 0;
  describeStore('sqliteStore', () => ({
    create(options: ContractOptions) {
      created += 1;
      const database = created % 2 === 0 ? connect() : shop;
      return sqliteStore(database, options);
    },
    waitMs: 0,
    letPass: (reference, ms) => void shop.exec(letPassOf(reference, ms)),
  }));
});
