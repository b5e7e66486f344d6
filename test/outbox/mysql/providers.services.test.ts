import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mysqlInbox } from '../../../src/inbox/mysql/mysql-inbox.js';
import { mysqlOutbox } from '../../../src/outbox/mysql/mysql-outbox.js';
import { sameDatabase } from '../../../src/storage/shared-database.js';
import { providers } from '../../inbox/mysql/providers/providers.js';
import { change } from '../../inbox/postgres/payment-change.js';
import type { OpenProvider } from '../../inbox/postgres/providers/providers.js';
import { inDatabase } from '../../services/mysql-url.js';
import { order } from '../settling-scene.js';
import { unusedClient } from '../unused-client.js';
import { useDatabase } from './server.js';

const url = process.env['MYSQL_URL'] ?? '';

describe.skipIf(url === '').each(Object.entries(providers))('an outbox on %s', (name, open) => {
  const database = `outbox_on_${Object.keys(providers).indexOf(name)}`;
  useDatabase(database);
  const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };
  let opened: OpenProvider;
  beforeAll(async () => {
    opened = await open(inDatabase(url, database));
    await mysqlOutbox(opened.provider, { client: unusedClient, prefix: 'own_' }).setup();
  });
  afterAll(() => opened.close());

  it('records in the transaction of an inbox on the same object, or not at all', async () => {
    const outbox = mysqlOutbox(opened.provider, { client: unusedClient });
    const inbox = mysqlInbox(opened.provider);
    expect(sameDatabase(inbox, outbox)).toBe(true);
    const failing = inbox.process(change('first'), async ({ tx }) => {
      await outbox.record(order('ours'), { tx });
      throw new Error('out of stock');
    });
    await expect(failing).rejects.toThrow('out of stock');
    expect(await outbox.get('ours')).toBeUndefined();
    await inbox.process(change('first'), ({ tx }) => outbox.record(order('ours'), { tx }));
    expect(await outbox.get('ours')).toMatchObject({ state: 'recorded' });
  });

  it('refuses the database itself instead of a transaction', async () => {
    const outbox = mysqlOutbox(opened.provider, { client: unusedClient });
    const recording = outbox.record(order('none'), { tx: opened.provider.database });
    await expect(recording).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    expect(await outbox.get('none')).toBeUndefined();
  });

  it('refuses a transaction that the server has rolled back after a deadlock', async () => {
    const outbox = mysqlOutbox(opened.provider, { client: unusedClient });
    const transaction = opened.provider.transaction(async (tx) => {
      // Which the ORM does not notice.
      await opened.send(tx, 'ROLLBACK');
      await outbox.record(order('undone'), { tx });
    }, limits);
    await expect(transaction).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    expect(await outbox.get('undone')).toBeUndefined();
  });

  it('stores nothing through a transaction that has ended', async () => {
    const outbox = mysqlOutbox(opened.provider, { client: unusedClient });
    let ended: unknown;
    await opened.provider.transaction(async (tx) => {
      ended = tx;
    }, limits);
    await expect(outbox.record(order('late'), { tx: ended })).rejects.toThrow();
    expect(await outbox.get('late')).toBeUndefined();
  });
});
