import { expect, it } from 'vitest';
import type { CallbackInbox } from '../../src/store/inbox.js';
import type { PaymentOutbox } from '../../src/store/outbox.js';
import type { TransactionProvider } from '../../src/store/providers/provider.js';
import { sameDatabase } from '../../src/store/shared-database.js';
import { change } from '../inbox/postgres/payment-change.js';
import { order } from './settling-scene.js';

export interface ProviderScene {
  provider(): TransactionProvider<unknown>;
  makeInbox(): CallbackInbox<unknown>;
  makeOutbox(): PaymentOutbox<unknown>;
}

export const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };

/** What holds of an outbox on any provider. */
export function describeProvider({ provider, makeInbox, makeOutbox }: ProviderScene): void {
  it('records in the transaction of an inbox on the same object, or not at all', async () => {
    const outbox = makeOutbox();
    const inbox = makeInbox();
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
    const outbox = makeOutbox();
    const recording = outbox.record(order('none'), { tx: provider().database });
    await expect(recording).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    expect(await outbox.get('none')).toBeUndefined();
  });

  it('stores nothing through a transaction that has ended', async () => {
    const outbox = makeOutbox();
    let ended: unknown;
    await provider().transaction(async (tx) => {
      ended = tx;
    }, limits);
    await expect(outbox.record(order('late'), { tx: ended })).rejects.toThrow();
    expect(await outbox.get('late')).toBeUndefined();
  });
}
