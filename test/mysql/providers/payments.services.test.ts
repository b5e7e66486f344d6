import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mysqlStore } from '../../../src/mysql/mysql-store.js';
import { providers } from '../../inbox/mysql/providers/providers.js';
import type { OpenProvider } from '../../inbox/postgres/providers/providers.js';
import { inDatabase } from '../../services/mysql-url.js';
import { describeProvider, limits } from '../provider-cases.js';
import { order } from '../settling-scene.js';
import { useDatabase } from './server.js';

const url = process.env['MYSQL_URL'] ?? '';

describe.skipIf(url === '').each(Object.entries(providers))('an outbox on %s', (name, open) => {
  const { database } = useDatabase(`outbox_on_${Object.keys(providers).indexOf(name)}`);
  let opened: OpenProvider;
  beforeAll(async () => {
    opened = await open(inDatabase(url, database));
  });
  afterAll(() => opened.close());

  const makeOutbox = () => mysqlStore(opened.provider, { client: unusedClient });
  describeProvider({
    provider: () => opened.provider,
    makeInbox: () => mysqlStore(opened.provider),
    makeOutbox,
  });

  it('refuses a transaction that the server has rolled back after a deadlock', async () => {
    const outbox = makeOutbox();
    const transaction = opened.provider.transaction(async (tx) => {
      // Which the ORM does not notice.
      await opened.send(tx, 'ROLLBACK');
      await outbox.record(order('undone'), { tx });
    }, limits);
    await expect(transaction).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    expect(await outbox.get('undone')).toBeUndefined();
  });
});
