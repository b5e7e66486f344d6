import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { It } from './callback-stage.js';
import { createPayment, createTwoPayments, seconds } from './changes.js';
import { assertPayment, type Stage } from './stage.js';

/** Changes of one instant: `paid` is the later one. */
export function testInstants(it: It<Stage>): void {
  it('shows paid, whichever of two changes of one instant is told first', async (stage) => {
    const store = await stage.openPayments();
    for (const isOurs of [true, false]) {
      for (const order of [
        ['paid', 'authorized'],
        ['authorized', 'paid'],
      ]) {
        const { input, reference } = await stage.payment();
        if (isOurs) await store.create(input);
        const [referenceNumber = randomUUID()] = stage.service.paymentsOf(reference);
        const change = createPayment({ merchantPaymentReference: reference, referenceNumber });
        for (const status of order) {
          await stage.deliver(store, change({ status })).answers('processed');
        }
        assertPayment(await store.get(reference), { status: 'paid' });
      }
    }
  });
  it('shows the last told of two changes of one instant if neither is paid, also after a paid', async (stage) => {
    const store = await stage.openPayments();
    const change = createPayment();
    const { merchantPaymentReference: reference } = change().payment;
    await stage.deliver(store, change({ status: 'paid' })).answers('processed');
    for (const status of ['refunded', 'disputed']) {
      const next = change({ status, updatedAt: seconds(1) });
      await stage.deliver(store, next).runsWith({ current: true });
      assertPayment(await store.get(reference), { status });
    }
  });
  it('keeps paid in the list of second payments', async (stage) => {
    const store = await stage.openPayments();
    const [one, other] = createTwoPayments();
    const { merchantPaymentReference: reference } = one().payment;
    await stage.deliver(store, one({ status: 'paid' })).answers('processed');
    for (const status of ['paid', 'authorized', 'captured']) {
      await stage
        .deliver(store, other({ status }))
        .runsWith({ current: false, secondPayment: true });
    }
    expect(await stage.attentionTo(reference)).toMatchObject([{ payment: { status: 'paid' } }]);
  });
}
