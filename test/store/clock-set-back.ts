import { expect } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { ContractService } from '../contract/store/service.js';
import { collect, referencesOf } from '../contract/store/stage.js';
import { changeOf, order } from './orders.js';
import { outcomeOf } from './outcome-of.js';

/** What a store lists, and sends, of which the times lie ahead since its clock was set back. */
export async function expectToListWhatLiesAhead<Tx>(
  create: (client: PaymentClient) => PaymentStore<Tx>,
  setBack: () => unknown,
): Promise<void> {
  const service = new ContractService();
  const store = create(service.client);
  const orders = ['ahead-lost', 'ahead-refused', 'ahead-created'].map(order);
  service.answer('ahead-lost', 'answer-lost');
  service.answer('ahead-refused', 'refused');
  for (const input of orders) await store.create(input).catch(() => undefined);
  const second = changeOf({ order: 'ahead-created' });
  await outcomeOf(store, second, async () => {});
  const failed = changeOf({ order: 'ahead-failed', referenceNumber: 'failed' });
  await outcomeOf(store, failed, () => Promise.reject(new Error('broken'))).catch(() => undefined);
  await setBack();
  const items = await collect(store.attention({ olderThanMs: 0 }));
  for (const kind of ['second-payment', 'failed-change', 'no-callback']) {
    const listed = items.filter((item) => item.kind === kind);
    expect(referencesOf(listed).some((reference) => reference.startsWith('ahead-'))).toBe(true);
  }
  // By this clock, its lease has not ended.
  expect(referencesOf(items)).not.toContain('ahead-lost');
  await store.recover();
  expect(await store.get('ahead-refused')).toMatchObject({ state: 'created' });
  const old = referencesOf(await collect(store.attention({ olderThanMs: 60_000 })));
  expect(old.filter((reference) => reference.startsWith('ahead-'))).toStrictEqual([]);
}
