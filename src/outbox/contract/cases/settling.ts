import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { PaymentOutbox } from '../../outbox.js';
import { recordOf } from '../service.js';
import { assertPayment, type ContractCase, collect, needing, own, test } from '../stage.js';

async function secondsOf(outbox: PaymentOutbox<unknown>, reference: string) {
  const all = await collect(outbox.secondPayments());
  return all.filter((one) => one.merchantPaymentReference === reference);
}

/** A callback settles a payment. */
export const settleCases: readonly ContractCase[] = [
  test('answers not-ours to a callback for a payment that it does not know', async (stage) => {
    const outbox = await stage.open();
    const record = recordOf(randomUUID(), { referenceNumber: randomUUID(), status: 'paid' });
    assert.equal(await outbox.settle(record, own), 'not-ours');
    assert.equal(await outbox.get(record.merchantPaymentReference), undefined);
    // An outbox refuses such a reference, but the service may accept it.
    const blank = recordOf('  ', { referenceNumber: randomUUID(), status: 'paid' });
    assert.equal(await outbox.settle(blank, own), 'not-ours');
  }),
  test('settles an unresolved payment by its callback', async (stage) => {
    const outbox = await stage.open();
    const { input, reference, referenceNumber } = await stage.createUnresolved(outbox);
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    assert.equal(await outbox.settle(record, own), 'settled');
    const other = await stage.open();
    const payment = await other.create(input);
    assertPayment(payment, { state: 'created', replayed: true });
    assert.deepEqual(payment.payment, record);
    const listed = await collect(other.unresolved());
    assert.ok(
      !listed.some((one) => one.merchantPaymentReference === reference),
      'it is still listed',
    );
  }),
  test('returns the record of a callback that arrived before the answer', async (stage) => {
    for (const kind of ['created', 'answer-lost', 422, 'refused'] as const) {
      const outbox = await stage.open();
      const { reference, held, call } = await stage.createHeld(outbox);
      const record = recordOf(reference, { referenceNumber: randomUUID(), status: 'paid' });
      assert.equal(await outbox.settle(record, own), 'settled');
      held.answer(kind);
      const payment = await call;
      assertPayment(payment, { state: 'created', replayed: false });
      assert.deepEqual(payment.payment, record);
    }
  }),
  test('keeps the newest record of a known payment', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    const { payment } = await outbox.create(input);
    const referenceNumber = String(payment?.referenceNumber);
    const settle = (status: string, seconds: number) =>
      outbox.settle(recordOf(reference, { referenceNumber, status, seconds }), own);
    const statusNow = async () => (await outbox.get(reference))?.payment?.status;
    // The server that answered has a clock that is ahead.
    const record = recordOf(reference, { referenceNumber, status: 'authorized' });
    const earlier = { ...record, updatedAt: '2026-03-01T11:59:59.500Z' };
    assert.equal(await outbox.settle(earlier, own), 'known');
    assert.equal(await statusNow(), 'authorized', 'a callback is newer than the answer to create');
    assert.equal(await settle('captured', 20), 'known');
    assert.equal(await statusNow(), 'captured');
    assert.equal(await settle('authorized', 10), 'known');
    assert.equal(await statusNow(), 'captured', 'an older record replaced a newer one');
    assert.equal(await settle('paid', 30), 'known');
    assert.equal(await statusNow(), 'paid');
    assert.deepEqual(await secondsOf(outbox, reference), []);
  }),
  test('settles a created payment whose referenceNumber was lost', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    stage.service.answer(reference, 'body-lost');
    await outbox.create(input);
    const [referenceNumber = ''] = stage.service.paymentsOf(reference);
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    assert.equal(await outbox.settle(record, own), 'settled');
    assertPayment(await outbox.get(reference), { referenceNumber, status: 'paid' });
  }),
  test('detects a second payment with one reference, lists it once, and keeps the first', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    const { payment } = await outbox.create(input);
    const referenceNumber = randomUUID();
    for (const [status, seconds] of [
      ['authorized', 1],
      ['paid', 3],
      ['captured', 2],
    ] as const) {
      const record = recordOf(reference, { referenceNumber, status, seconds });
      assert.equal(await outbox.settle(record, own), 'second-payment');
    }
    const [second, ...more] = await secondsOf(await stage.open(), reference);
    assert.deepEqual(more, [], 'it is listed more than once');
    assert.equal(second?.referenceNumber, referenceNumber);
    assert.equal(second?.payment.status, 'paid', 'the newest record must be kept');
    assertPayment(await outbox.get(reference), {
      state: 'created',
      referenceNumber: String(payment?.referenceNumber),
    });
  }),
  test('lists the payment of an answer as second if the callback named another one', async (stage) => {
    const outbox = await stage.open();
    const { reference, held, call } = await stage.createHeld(outbox);
    const referenceNumber = randomUUID();
    await outbox.settle(recordOf(reference, { referenceNumber, status: 'paid' }), own);
    held.answer('created');
    assertPayment(await call, { state: 'created', referenceNumber });
    const seconds = await secondsOf(outbox, reference);
    assert.deepEqual(
      seconds.map((second) => second.referenceNumber),
      stage.service.paymentsOf(reference),
      'the payment of the answer is not listed',
    );
  }),
  ...needing('transaction', [
    test('settles in the given transaction', async (stage) => {
      const outbox = await stage.open();
      const { reference, referenceNumber } = await stage.createUnresolved(outbox);
      const record = recordOf(reference, { referenceNumber, status: 'paid' });
      const undone = new Error('the order was not updated');
      const call = stage.transaction(async (tx) => {
        assert.equal(await outbox.settle(record, { tx }), 'settled');
        throw undone;
      });
      assert.equal(await call.catch((error: unknown) => error), undone);
      assertPayment(await outbox.get(reference), { state: 'unresolved' });
      await stage.transaction(async (tx) => {
        await outbox.settle(record, { tx });
      });
      assertPayment(await outbox.get(reference), { state: 'created', status: 'paid' });
    }),
  ]),
];
