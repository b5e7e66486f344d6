import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { PaymentOutbox } from '../../../src/store/outbox.js';
import { recordOf } from './service.js';
import { assertPayment, collect, type It, own, referencesOf } from './stage.js';

async function secondsOf(outbox: PaymentOutbox<unknown>, reference: string) {
  const all = await collect(outbox.secondPayments());
  return all.filter((one) => one.merchantPaymentReference === reference);
}

/** A callback settles a payment. */
export function testSettling(it: It): void {
  it('answers not-ours to a callback for a payment that it does not know', async (stage) => {
    const outbox = await stage.open();
    const record = recordOf(randomUUID(), { referenceNumber: randomUUID(), status: 'paid' });
    expect(await outbox.settle(record, own)).toBe('not-ours');
    expect(await outbox.get(record.merchantPaymentReference)).toBeUndefined();
    // An outbox refuses such a reference, but the service may accept it.
    const blank = recordOf('  ', { referenceNumber: randomUUID(), status: 'paid' });
    expect(await outbox.settle(blank, own)).toBe('not-ours');
  });
  it('settles an unresolved payment by its callback', async (stage) => {
    const outbox = await stage.open();
    const { input, reference, referenceNumber } = await stage.createUnresolved(outbox);
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    expect(await outbox.settle(record, own)).toBe('settled');
    const other = await stage.open();
    const payment = await other.create(input);
    assertPayment(payment, { state: 'created', replayed: true });
    expect(payment.payment).toStrictEqual(record);
    expect(referencesOf(await collect(other.unresolved()))).not.toContain(reference);
  });
  it('returns the record of a callback that arrived before the answer', async (stage) => {
    for (const kind of ['created', 'answer-lost', 422, 'refused'] as const) {
      const outbox = await stage.open();
      const { reference, held, call } = await stage.createHeld(outbox);
      const record = recordOf(reference, { referenceNumber: randomUUID(), status: 'paid' });
      expect(await outbox.settle(record, own)).toBe('settled');
      held.answer(kind);
      const payment = await call;
      assertPayment(payment, { state: 'created', replayed: false });
      expect(payment.payment).toStrictEqual(record);
    }
  });
  it('keeps the newest record of a known payment', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    const { payment } = await outbox.create(input);
    const referenceNumber = String(payment?.referenceNumber);
    const settle = (status: string, seconds: number) =>
      outbox.settle(recordOf(reference, { referenceNumber, status, seconds }), own);
    const statusNow = async () => (await outbox.get(reference))?.payment?.status;
    // The server that answered has a clock that is ahead.
    const record = recordOf(reference, { referenceNumber, status: 'authorized' });
    const earlier = { ...record, updatedAt: '2026-03-01T11:59:59.500Z' };
    expect(await outbox.settle(earlier, own)).toBe('known');
    expect(await statusNow()).toBe('authorized');
    expect(await settle('captured', 20)).toBe('known');
    expect(await statusNow()).toBe('captured');
    expect(await settle('authorized', 10)).toBe('known');
    expect(await statusNow()).toBe('captured');
    expect(await settle('paid', 30)).toBe('known');
    expect(await statusNow()).toBe('paid');
    expect(await secondsOf(outbox, reference)).toStrictEqual([]);
  });
  it('settles a created payment whose referenceNumber was lost', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    stage.service.answer(reference, 'body-lost');
    await outbox.create(input);
    const [referenceNumber = ''] = stage.service.paymentsOf(reference);
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    expect(await outbox.settle(record, own)).toBe('settled');
    assertPayment(await outbox.get(reference), { referenceNumber, status: 'paid' });
  });
  it('detects a second payment with one reference, lists it once, and keeps the first', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    const { payment } = await outbox.create(input);
    const referenceNumber = randomUUID();
    for (const [status, seconds] of [
      ['authorized', 1],
      ['paid', 3],
      ['captured', 2],
    ] as const) {
      const record = recordOf(reference, { referenceNumber, status, seconds });
      expect(await outbox.settle(record, own)).toBe('second-payment');
    }
    const [second, ...more] = await secondsOf(await stage.open(), reference);
    expect(more).toStrictEqual([]);
    expect(second?.referenceNumber).toBe(referenceNumber);
    expect(second?.payment.status).toBe('paid');
    assertPayment(await outbox.get(reference), {
      state: 'created',
      referenceNumber: String(payment?.referenceNumber),
    });
  });
  it('lists the payment of an answer as second if the callback named another one', async (stage) => {
    const outbox = await stage.open();
    const { reference, held, call } = await stage.createHeld(outbox);
    const referenceNumber = randomUUID();
    await outbox.settle(recordOf(reference, { referenceNumber, status: 'paid' }), own);
    held.answer('created');
    assertPayment(await call, { state: 'created', referenceNumber });
    const seconds = await secondsOf(outbox, reference);
    expect(seconds.map((second) => second.referenceNumber)).toStrictEqual(
      stage.service.paymentsOf(reference),
    );
  });
}

/** For a store with transactions. */
export function testSettlingInTransaction(it: It): void {
  it('settles in the given transaction', async (stage) => {
    const outbox = await stage.open();
    const { reference, referenceNumber } = await stage.createUnresolved(outbox);
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    const undone = new Error('the order was not updated');
    const call = stage.transaction(async (tx) => {
      expect(await outbox.settle(record, { tx })).toBe('settled');
      throw undone;
    });
    expect(await call.catch((error: unknown) => error)).toBe(undone);
    assertPayment(await outbox.get(reference), { state: 'unresolved' });
    await stage.transaction(async (tx) => {
      await outbox.settle(record, { tx });
    });
    assertPayment(await outbox.get(reference), { state: 'created', status: 'paid' });
  });
}
