import type { PGlite } from '@electric-sql/pglite';
import type { StatusChange } from '../../../src/store/callback-store.js';
import { memoryStore } from '../../../src/store/memory.js';
import { postgresStore } from '../../../src/postgres/postgres-store.js';
import { emptyPglite } from '../../pglite.js';
import type { StoreUnderTest } from './store.js';

const FAR_FUTURE = new Date('2999-01-01T00:00:00Z');
const FAR_PAST = new Date('1971-01-01T00:00:00Z');

const ANOTHER_PAYMENT: StatusChange = {
  referenceNumber: 'another payment',
  key: 'its change',
  occurredAt: new Date(0),
  processStale: false,
};

/** The stores that need nothing but this process. */
export const memoryStore: StoreUnderTest = {
  name: 'memory',
  busyFirst: false,
  concurrent: true,
  prunes: 'all',
  async create() {
    let now = 0;
    const inbox = memoryStore({ now: () => now, retentionMs: 1000 });
    return {
      inboxes: [inbox],
      // It forgets by itself what was not changed for so long, when the next callback comes.
      async pruneAll() {
        now += 1000;
        await inbox.process(ANOTHER_PAYMENT, async () => undefined);
      },
      async pruneNothing() {
        await inbox.process(ANOTHER_PAYMENT, async () => undefined);
      },
    };
  },
};

/** PGlite takes a second to start: one for all histories, with tables of their own. */
export async function openPgliteStore(): Promise<StoreUnderTest> {
  const database = await emptyPglite();
  const inbox = postgresStore(database, { prefix: 'fuzz_' });
  await inbox.setup();
  await database.exec('CREATE TABLE effects (key text)');
  return {
    name: 'PGlite',
    busyFirst: true,
    concurrent: false,
    prunes: 'not in work',
    async create() {
      await database.exec(
        'DELETE FROM fuzz_events; DELETE FROM fuzz_payments; DELETE FROM effects',
      );
      return {
        inboxes: [inbox],
        pruneAll: async () => void (await inbox.prune(FAR_FUTURE)),
        pruneNothing: async () => void (await inbox.prune(FAR_PAST)),
        async writeEffect({ tx }, { key }) {
          await (tx as PGlite).query('INSERT INTO effects VALUES ($1)', [key]);
        },
        async readEffects() {
          const { rows } = await database.query<{ key: string }>('SELECT key FROM effects');
          return rows.map(({ key }) => key);
        },
      };
    },
  };
}
