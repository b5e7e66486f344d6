import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { oddNames } from '../odd-names.js';
import type { It } from './callback-stage.js';
import { createPayment, createTwoPayments, seconds } from './changes.js';
import { assertPayment, createInput, isRefused, type Stage } from './stage.js';

// Later than all clocks.
const LATER = new Date('2999-01-01T00:00:00Z');

/** Old completed payments are deleted. */
export function testPruning(it: It<Stage>): void {
  it('deletes what is old and has ended, and nothing that needs a person, nor its order', async (stage) => {
    const store = await stage.openPayments();
    const [created, rejected, recorded] = [createInput(), createInput(), createInput()];
    const twice = createInput();
    for (const input of [created, twice]) await store.create(input);
    stage.service.answer(rejected.merchantPaymentReference, 422);
    await isRefused(store.create(rejected));
    await stage.record(store, recorded);
    const { reference: unresolved } = await stage.createUnresolved(store);
    await stage.outlive(unresolved);
    await stage.pay(store, twice.merchantPaymentReference);
    const [processed, failed] = [createPayment()(), createPayment()()];
    await stage.deliver(store, processed).answers('processed');
    await stage.deliverFailing(store, failed).rejects();

    expect(await store.prune(new Date(0))).toBe(0);
    assertPayment(await store.get(created.merchantPaymentReference), { state: 'created' });
    // Payments: created, rejected, and that of the processed change, which goes too.
    expect(await store.prune(LATER)).toBeGreaterThanOrEqual(4);
    for (const gone of [created, rejected, processed.payment]) {
      expect(await store.get(gone.merchantPaymentReference)).toBeUndefined();
    }
    assertPayment(await store.get(recorded.merchantPaymentReference), { state: 'recorded' });
    assertPayment(await store.get(unresolved), { state: 'unresolved' });
    for (const [reference, kind] of [
      [unresolved, 'unresolved'],
      [twice.merchantPaymentReference, 'second-payment'],
      [failed.payment.merchantPaymentReference, 'failed-change'],
    ] as const) {
      expect(await stage.itemOf(kind, reference)).toBeDefined();
      assertPayment(await store.create(createInput({ merchantPaymentReference: reference })), {
        replayed: true,
      });
    }
    expect(await store.prune(LATER)).toBe(0);
  });
  it('keeps the processed changes of a payment while one has failed, which is still older when it is replayed', async (stage) => {
    const store = await stage.openPayments();
    const [payment, other] = createTwoPayments();
    const failed = payment();
    await stage.deliverFailing(store, failed).rejects();
    for (const change of [payment, other]) {
      await stage.deliver(store, change({ updatedAt: seconds(1) })).answers('processed');
    }
    await store.prune(LATER);
    await stage.deliver(store, failed).runsWith({ current: false });
    await store.prune(LATER);
    const { merchantPaymentReference: reference } = failed.payment;
    expect(await store.get(reference)).toBeUndefined();
  });
  it('deletes a payment without a callback, also with a status that lookUp has found', async (stage) => {
    const { input, reference, store } = await stage.payment();
    await store.create(input);
    await stage.outlive(reference);
    const found = { referenceNumber: 'PAY-1', status: 'paid' };
    const lookUp = (asked: string) => (asked === reference ? found : undefined);
    for (let pass = 0; pass < 12; pass += 1) await store.recover({ lookUp });
    expect(await stage.itemOf('no-callback', reference)).toMatchObject({ foundStatus: 'paid' });
    await store.prune(LATER);
    expect(await store.get(reference)).toBeUndefined();
  });
  it('runs a pruned change again, and creates a pruned reference again', async (stage) => {
    const { input, reference, store } = await stage.payment();
    await store.create(input);
    const payment = stage.paymentOf(reference);
    const [newest, change] = [payment({ updatedAt: seconds(60) }), payment()];
    await stage.deliver(store, newest).answers('processed');
    await stage.deliver(store, change).runsWith({ current: false });
    await store.prune(LATER);
    // Its watermark is gone too.
    await stage.deliver(store, change).runsWith({ current: true });
    await stage.deliver(store, newest).answers('processed');
    assertPayment(await store.create(input), { state: 'created', replayed: true });
    await store.prune(LATER);
    assertPayment(await store.create(input), { state: 'created', replayed: false });
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
}

/** A reference may be any text. */
export function testNames(it: It<Stage>): void {
  it('distinguishes payments whatever characters their references contain', async (stage) => {
    const store = await stage.openPayments();
    const references = oddNames(randomUUID()).filter((reference) => reference.isWellFormed());
    for (const [index, reference] of references.entries()) {
      const input = createInput({ merchantPaymentReference: reference, amount: index });
      assertPayment(await store.create(input), { state: 'created', replayed: false });
    }
    for (const [index, reference] of references.entries()) {
      const payment = await store.get(reference);
      expect(payment?.merchantPaymentReference).toBe(reference);
      expect(payment?.input?.amount).toBe(index);
    }
  });
  it('keeps a request unchanged', async (stage) => {
    const store = await stage.openPayments();
    const extraBody = {
      text: `it's "\\" \u0000 \u2028 ? $1 :x %s {} é \u{1f4b8}`,
      number: 0.1,
      none: null,
      list: [true, { z: 1, a: [] }],
    };
    const input = createInput({ amount: 10.07 });
    stage.service.answer(input.merchantPaymentReference, 'refused');
    await store.create(input, { extraBody }).catch(() => undefined);
    await store.send(input.merchantPaymentReference);
    const [first, second] = stage.service.requestsFor(input.merchantPaymentReference);
    expect(first).toStrictEqual({ ...input, ...extraBody });
    expect(second).toStrictEqual(first);
  });
}
