import { expect } from 'vitest';
import { RetryLaterError } from '../../../src/errors.js';
import type { It } from './callback-stage.js';
import { createPayment, recordOf, seconds } from './changes.js';
import { assertPayment, ofKind, recordIn, type Stage } from './stage.js';

const second = { kinds: ['second-payment'] } as const;

/** A callback settles a payment. */
export function testSettling(it: It<Stage>): void {
  it('settles an unresolved payment by its callback', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference, referenceNumber } = await stage.createUnresolved(store);
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    const delivery = await stage.callback(await stage.open(), record);
    await delivery.runsWith({ current: true, secondPayment: false });
    const payment = await (await stage.openPayments()).create(input);
    assertPayment(payment, { state: 'created', replayed: true });
    expect(recordIn(payment)).toStrictEqual(record);
    expect(await stage.attentionTo(reference)).toStrictEqual([]);
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('settles a recorded and a rejected payment, which is then not sent', async (stage) => {
    for (const state of ['recorded', 'rejected'] as const) {
      const { input, reference, store } = await stage.payment();
      if (state === 'recorded') await stage.record(store, input);
      else {
        stage.service.answer(reference, 422);
        await store.create(input);
      }
      assertPayment(await store.get(reference), { state });
      const sent = stage.service.requestsFor(reference).length;
      await stage.pay(store, reference);
      assertPayment(await store.create(input), { state: 'created', replayed: true });
      await store.recover();
      expect(stage.service.requestsFor(reference).length).toBe(sent);
    }
  });
  it('returns the record of a callback that arrived before the answer', async (stage) => {
    for (const kind of ['created', 'answer-lost', 422, 'refused'] as const) {
      const store = await stage.openPayments();
      const { reference, held, call } = await stage.createHeld(store);
      const record = await stage.pay(store, reference);
      held.answer(kind);
      const payment = await call;
      assertPayment(payment, { state: 'created', replayed: false });
      expect(recordIn(payment)).toStrictEqual(record);
    }
  });
  it('keeps the newest record of a known payment', async (stage) => {
    const store = await stage.openPayments();
    const { reference, first } = await stage.createKnown(store);
    const statusAfter = async (status: string, updatedAt: string) => {
      const change = first({ status, updatedAt });
      await stage.deliver(store, change).runsWith({ secondPayment: false });
      return recordIn(await store.get(reference))?.status;
    };
    // The server that answered has a clock that is ahead.
    expect(await statusAfter('authorized', seconds(-1))).toBe('authorized');
    expect(await statusAfter('captured', seconds(20))).toBe('captured');
    expect(await statusAfter('authorized', seconds(10))).toBe('captured');
    expect(await statusAfter('paid', seconds(30))).toBe('paid');
    expect(await statusAfter('refunded', seconds(30, 1))).toBe('refunded');
    expect(await statusAfter('disputed', seconds(30, 1))).toBe('disputed');
    expect(await stage.attentionTo(reference)).toStrictEqual([]);
  });
  it('detects a second payment with one reference, lists it once, and keeps the first', async (stage) => {
    const store = await stage.openPayments();
    const { reference, referenceNumber, first, other } = await stage.createKnown(store);
    for (const [status, at] of [
      ['authorized', 1],
      ['paid', 3],
      ['captured', 2],
    ] as const) {
      const change = other({ status, updatedAt: seconds(at) });
      await stage.deliver(store, change).runsWith({ secondPayment: true, current: at !== 2 });
    }
    const [item, ...more] = ofKind('second-payment', await stage.attentionTo(reference));
    expect(more).toStrictEqual([]);
    const { referenceNumber: secondNumber } = other().payment;
    expect(item).toMatchObject({ referenceNumber: secondNumber, payment: { status: 'paid' } });
    assertPayment(await store.get(reference), { state: 'created', referenceNumber });
    // The second one has paid the order.
    const expired = first({ updatedAt: seconds(60), status: 'expired' });
    await stage.deliver(store, expired).runsWith({ current: false, secondPayment: false });
    assertPayment(await store.get(reference), { referenceNumber, status: 'expired' });
    const refunded = other({ updatedAt: seconds(61), status: 'refunded' });
    await stage.deliver(store, refunded).runsWith({ current: true, secondPayment: true });
  });
  it('lists the newest record of the payment of the store, also if its refund overtakes its paid', async (stage) => {
    const store = await stage.openPayments();
    const { reference, referenceNumber, first, other } = await stage.createKnown(store);
    await stage.deliver(store, other({ status: 'paid' })).answers('processed');
    const refunded = first({ status: 'refunded', updatedAt: seconds(2) });
    await stage.deliver(store, refunded).answers('processed');
    const paid = first({ status: 'paid', updatedAt: seconds(1) });
    await stage.deliver(store, paid).runsWith({ current: false, secondPayment: true });
    assertPayment(await store.get(reference), { status: 'refunded' });
    const listed = ofKind('second-payment', await stage.attentionTo(reference, second));
    expect(listed).toHaveLength(2);
    const own = listed.find((item) => item.referenceNumber === referenceNumber);
    expect(own).toMatchObject({ payment: { status: 'refunded' } });
  });
  it('lists the payment of an answer as second if the callback named another one', async (stage) => {
    const store = await stage.openPayments();
    const { reference, held, call } = await stage.createHeld(store);
    const { referenceNumber } = await stage.pay(store, reference);
    held.answer('created');
    assertPayment(await call, { state: 'created', referenceNumber });
    const listed = ofKind('second-payment', await stage.attentionTo(reference, second));
    expect(listed.map((item) => item.referenceNumber)).toStrictEqual(
      stage.service.paymentsOf(reference),
    );
  });
}

/** What a callback says about a payment is true whatever becomes of the work. */
export function testSettlingWithoutWork(it: It<Stage>): void {
  const settled = async (stage: Stage, reference: string) => {
    const payment = await (await stage.openPayments()).get(reference);
    assertPayment(payment, { state: 'created', status: 'authorized' });
  };
  const unresolved = async (stage: Stage) => {
    const store = await stage.openPayments();
    const { reference, referenceNumber } = await stage.createUnresolved(store);
    const change = createPayment({ merchantPaymentReference: reference, referenceNumber });
    return { store, reference, change };
  };

  it('settles the payment of a change whose work throws, and of one that is retried later', async (stage) => {
    for (const error of [new Error('out of stock'), new RetryLaterError()]) {
      const { store, reference, change } = await unresolved(stage);
      await stage.deliverFailing(store, change(), error).rejects();
      await settled(stage, reference);
      expect(ofKind('unresolved', await stage.attentionTo(reference))).toStrictEqual([]);
    }
  });
  it('keeps what a change that is parked says of its payment', async (stage) => {
    const { store, reference, change } = await unresolved(stage);
    const parked = change({ failures: { parkAfter: 1 } });
    await stage.deliverFailing(store, parked).rejects();
    await stage.deliver(store, parked).answers('parked');
    await settled(stage, reference);
  });
  it('shows what the service said, whatever became of the work', async (stage) => {
    const { store, reference, change } = await unresolved(stage);
    await stage.deliver(store, change({ status: 'paid' })).answers('processed');
    const refunded = change({ status: 'refunded', updatedAt: seconds(5) });
    await stage.deliverFailing(store, refunded).rejects();
    assertPayment(await store.get(reference), { status: 'refunded' });
    const late = change({ status: 'captured', updatedAt: seconds(3) });
    await stage.deliverFailing(store, late).rejects();
    assertPayment(await store.get(reference), { status: 'refunded' });
    await stage.deliver(store, refunded).runsWith({ current: true });
    assertPayment(await store.get(reference), { status: 'refunded' });
  });
  it('lists the second payment of a change whose work throws', async (stage) => {
    const store = await stage.openPayments();
    const { reference, other } = await stage.createKnown(store);
    await stage.deliverFailing(store, other()).rejects();
    const items = await stage.attentionTo(reference, second);
    expect(items).toMatchObject([{ referenceNumber: other().payment.referenceNumber }]);
  });
}
