import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { It } from './callback-stage.js';
import { createPayment, createTwoPayments, instant, recordOf, seconds } from './changes.js';
import { assertPayment, createInput, recordIn, rejectsWith, type Stage } from './stage.js';

const second = { kinds: ['second-payment'] } as const;
/** Payments that another program has created: the store knows them from their callbacks. */
export function testForeign(it: It<Stage>): void {
  it('knows a payment from its callbacks alone, and sends nothing for its reference', async (stage) => {
    const store = await stage.openPayments();
    // A store refuses such a reference, but the service may accept it.
    const blank = recordOf('  ', { referenceNumber: randomUUID(), status: 'authorized' });
    await (await stage.callback(store, blank)).runsWith({ secondPayment: false });
    for (const status of ['authorized', 'paid']) {
      const input = createInput();
      const reference = input.merchantPaymentReference;
      const record = recordOf(reference, { referenceNumber: randomUUID(), status });
      const delivery = await stage.callback(await stage.open(), record);
      await delivery.runsWith({ secondPayment: false, current: true });
      const found = { state: 'created', replayed: true, attempts: 0 } as const;
      const other = await stage.openPayments();
      for (const payment of [
        await store.get(reference),
        await store.create(input),
        await other.create({ ...input, amount: 1, currency: 'USD' }),
        await store.send(reference),
      ]) {
        assertPayment(payment, { ...found, referenceNumber: record.referenceNumber, status });
        expect(payment?.merchantPaymentReference).toBe(reference);
        expect(payment).not.toHaveProperty('input');
        expect(recordIn(payment)).toStrictEqual(record);
      }
      await stage.record(store, { ...input, amount: 2 });
      await store.recover({ lookUp: () => 'not-created' });
      expect(stage.service.requestsFor(reference)).toStrictEqual([]);
      expect(await stage.attentionTo(reference, { olderThanMs: 0 })).toStrictEqual([]);
      assertPayment(await store.get(reference), found);
    }
  });
  it('imports an order by its record and a callback, in either order', async (stage) => {
    for (const isFirst of [true, false]) {
      const { input, reference, store } = await stage.payment();
      const record = recordOf(reference, { referenceNumber: randomUUID(), status: 'paid' });
      if (isFirst) await stage.callback(store, record);
      await stage.record(store, input);
      if (!isFirst) await stage.callback(store, record);
      await store.recover();
      const { referenceNumber } = record;
      assertPayment(await store.get(reference), { state: 'created', referenceNumber });
      expect(stage.service.requestsFor(reference)).toStrictEqual([]);
    }
  });
  it('knows a payment also if the work for its only callback failed', async (stage) => {
    const { input, reference, store } = await stage.payment();
    const change = createPayment({ merchantPaymentReference: reference });
    await stage.deliverFailing(store, change({ status: 'paid' })).rejects();
    assertPayment(await store.create(input), { state: 'created', replayed: true, status: 'paid' });
    expect(stage.service.requestsFor(reference)).toStrictEqual([]);
  });
  it('takes the latest of several payments for that of an order until one has paid it', async (stage) => {
    const store = await stage.openPayments();
    const [one, other] = createTwoPayments();
    const { merchantPaymentReference: reference, referenceNumber: first } = one().payment;
    const { referenceNumber: last } = other().payment;
    const [begun, declined] = [one({ updatedAt: seconds(4) }), other({ status: 'declined' })];
    await stage.deliver(store, begun).answers('processed');
    assertPayment(await store.get(reference), { referenceNumber: first });
    await stage.deliver(store, declined).runsWith({ secondPayment: false, current: true });
    assertPayment(await store.get(reference), { referenceNumber: last, status: 'declined' });
    // Neither a repetition nor an older change makes another one the latest.
    await stage.deliver(store, begun).answers('duplicate');
    await stage.deliver(store, one()).runsWith({ current: false });
    assertPayment(await store.get(reference), { referenceNumber: last, status: 'declined' });
    await stage.deliver(store, one({ status: 'paid' })).answers('processed');
    assertPayment(await store.get(reference), { referenceNumber: first, status: 'paid' });
    await stage.deliver(store, other({ updatedAt: seconds(60) })).runsWith({ current: false });
    assertPayment(await store.get(reference), { referenceNumber: first, status: 'paid' });
    expect(await stage.attentionTo(reference)).toStrictEqual([]);
  });
  it('lists a second payment that is paid, whatever the time of its record', async (stage) => {
    const store = await stage.openPayments();
    for (const updatedAt of [instant(-1, 1), instant(0), instant(2 ** 42)]) {
      const [one, other] = createTwoPayments();
      const { merchantPaymentReference: reference, referenceNumber } = one().payment;
      await stage.deliver(store, one({ status: 'paid', updatedAt })).answers('processed');
      const change = other({ status: 'paid', updatedAt });
      await stage.deliver(store, change).runsWith({ secondPayment: true, current: false });
      expect(await stage.attentionTo(reference, second)).toHaveLength(1);
      assertPayment(await store.get(reference), { referenceNumber, status: 'paid' });
    }
  });
  it('decides nothing about a payment that it did not send', async (stage) => {
    const store = await stage.openPayments();
    const change = createPayment()();
    const { merchantPaymentReference, referenceNumber } = change.payment;
    await stage.deliver(store, change).answers('processed');
    const item = { merchantPaymentReference, attempts: 0, listedAt: new Date() };
    await rejectsWith(store.markNotCreated(item), 'STATE_CHANGED');
    await store.markCreated(merchantPaymentReference, { referenceNumber });
    const other = store.markCreated(merchantPaymentReference, { referenceNumber: 'another' });
    await rejectsWith(other, 'STATE_CHANGED');
    assertPayment(await store.get(merchantPaymentReference), { state: 'created', referenceNumber });
  });
}
