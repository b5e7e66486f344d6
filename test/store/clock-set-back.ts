import { expect } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import type { PaymentOutbox } from '../../src/store/outbox.js';
import { ContractService } from '../contract/outbox/service.js';
import { order } from './settling-scene.js';

/** What a store lists, and sends, of which the times lie ahead since its clock was set back. */
export async function expectToListWhatLiesAhead<Outbox extends PaymentOutbox<never>>(
  create: (client: PaymentClient) => Outbox,
  setBack: () => unknown,
): Promise<void> {
  const service = new ContractService();
  const outbox = create(service.client);
  const [lost, refused] = [order('ahead-lost'), order('ahead-refused')];
  service.answer('ahead-lost', 'answer-lost');
  service.answer('ahead-refused', 'refused');
  for (const input of [lost, refused]) await outbox.create(input).catch(() => undefined);
  await setBack();
  const listed: string[] = [];
  for await (const payment of outbox.unresolved()) listed.push(payment.merchantPaymentReference);
  expect(listed).toContain('ahead-lost');
  await outbox.recover();
  expect(await outbox.get('ahead-refused')).toMatchObject({ state: 'created' });
  for await (const old of outbox.unresolved({ olderThanMs: 1 })) {
    expect(old.merchantPaymentReference).not.toBe('ahead-lost');
  }
}
