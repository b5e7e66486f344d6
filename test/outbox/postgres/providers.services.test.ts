import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { sameDatabase } from '../../../src/storage/shared-database.js';
import { change } from '../../inbox/postgres/payment-change.js';
import { type OpenProvider, providers } from '../../inbox/postgres/providers/providers.js';
import { unusedClient } from '../unused-client.js';
import { useSchema } from './server.js';

const url = process.env['DATABASE_URL'] ?? '';

describe.skipIf(url === '').each(Object.entries(providers))('an outbox on %s', (_, open) => {
  const { schema } = useSchema();
  const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };
  let opened: OpenProvider;
  beforeAll(async () => {
    opened = await open(url, schema);
    await postgresOutbox(opened.provider, { client: unusedClient, prefix: 'own_' }).setup();
  });
  afterAll(() => opened.close());

  it('records in the transaction of an inbox on the same object, or not at all', async () => {
    const outbox = postgresOutbox(opened.provider, { client: unusedClient });
    const inbox = postgresInbox(opened.provider);
    expect(sameDatabase(inbox, outbox)).toBe(true);
    const order = { merchantPaymentReference: 'ours', amount: 100, currency: 'EUR' };
    const failing = inbox.process(change('first'), async ({ tx }) => {
      await outbox.record(order, { tx });
      throw new Error('out of stock');
    });
    await expect(failing).rejects.toThrow('out of stock');
    expect(await outbox.get('ours')).toBeUndefined();
    await inbox.process(change('first'), ({ tx }) => outbox.record(order, { tx }));
    expect(await outbox.get('ours')).toMatchObject({ state: 'recorded' });
  });

  it('refuses the database itself instead of a transaction', async () => {
    const outbox = postgresOutbox(opened.provider, { client: unusedClient });
    const order = { merchantPaymentReference: 'none', amount: 100, currency: 'EUR' };
    const recording = outbox.record(order, { tx: opened.provider.database });
    await expect(recording).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    expect(await outbox.get('none')).toBeUndefined();
  });

  it('stores nothing through a transaction that has ended', async () => {
    const outbox = postgresOutbox(opened.provider, { client: unusedClient });
    const order = { merchantPaymentReference: 'late', amount: 100, currency: 'EUR' };
    let ended: unknown;
    await opened.provider.transaction(async (tx) => {
      ended = tx;
    }, limits);
    await expect(outbox.record(order, { tx: ended })).rejects.toThrow();
    expect(await outbox.get('late')).toBeUndefined();
  });
});
