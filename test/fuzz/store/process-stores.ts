import type { PGlite } from '@electric-sql/pglite';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { memoryStore } from '../../../src/store/memory.js';
import { emptyPglite } from '../../pglite.js';
import { nameOf } from './deliveries.js';
import { client, type StoreUnderTest } from './store.js';

// The stores that need nothing but this process.

export const inMemory: StoreUnderTest = {
  name: 'memory',
  busyFirst: false,
  keeps: true,
  concurrent: true,
  async create() {
    const store = memoryStore({ client });
    return { stores: [store], payments: store };
  },
};

/** PGlite takes a second to start: one for all histories. */
export async function openPgliteStore(): Promise<StoreUnderTest> {
  const database = await emptyPglite();
  const store = postgresStore(database, { prefix: 'fuzz_', client });
  await store.setup();
  await database.exec('CREATE TABLE effects (name text)');
  return {
    name: 'PGlite',
    busyFirst: true,
    keeps: true,
    concurrent: false,
    async create() {
      await database.exec(
        'TRUNCATE fuzz_payments, fuzz_changes, fuzz_failed_changes, fuzz_second_payments, effects',
      );
      return {
        stores: [store],
        payments: store,
        async writeEffect({ tx }, delivery) {
          await (tx as PGlite).query('INSERT INTO effects VALUES ($1)', [nameOf(delivery)]);
        },
        async readEffects() {
          const { rows } = await database.query<{ name: string }>('SELECT name FROM effects');
          return rows.map(({ name }) => name);
        },
      };
    },
  };
}
