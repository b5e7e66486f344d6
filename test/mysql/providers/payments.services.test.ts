import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mysqlStore } from '../../../src/mysql/mysql-store.js';
import { change, order } from '../../postgres/change.js';
import type { OpenProvider } from '../../postgres/providers/providers.js';
import { inDatabase } from '../../services/mysql-url.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { unusedClient } from '../../store/unused-client.js';
import { useDatabase } from '../server.js';
import { providers } from './providers.js';

const url = process.env['MYSQL_URL'] ?? '';

describe.skipIf(url === '').each(Object.entries(providers))(
  'payments of a store on %s',
  (name, open) => {
    const { database } = useDatabase(`mp_payments_on_${Object.keys(providers).indexOf(name)}`);
    let opened: OpenProvider;
    beforeAll(async () => {
      opened = await open(inDatabase(url, database));
    });
    afterAll(() => opened.close());

    const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };
    const makeStore = () => mysqlStore(opened.provider, { client: unusedClient });

    it('stores nothing through the tx of work that has ended', async () => {
      const store = makeStore();
      let endedWork: unknown;
      await outcomeOf(store, change('ended'), async ({ tx }) => {
        endedWork = tx;
      });
      await expect(store.record(order('late'), { tx: endedWork })).rejects.toThrow();
      expect(await store.get('late')).toBeUndefined();
    });

    it('refuses a transaction that the server has rolled back after a deadlock', async () => {
      const store = makeStore();
      const transaction = opened.provider.transaction(async (tx) => {
        // Which the ORM does not notice.
        await opened.send(tx, 'ROLLBACK');
        await store.record(order('undone'), { tx });
      }, limits);
      await expect(transaction).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
      expect(await store.get('undone')).toBeUndefined();
    });
  },
);
