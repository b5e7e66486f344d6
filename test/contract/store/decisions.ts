import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ListedPayment } from '../../../src/store/payment-store.js';
import type { It } from './callback-stage.js';
import { recordOf } from './changes.js';
import { assertPayment, createInput, isRefused, ofKind, rejectsWith, type Stage } from './stage.js';

/** The item as it would have been listed before the service's time was over. */
function listedEarlier<Item extends { readonly listedAt: Date }>(item: Item, ms = 120_000): Item {
  return { ...item, listedAt: new Date(Number(item.listedAt) - ms) };
}

/** Someone has looked a payment up at the service. */
export function testDecisions(it: It<Stage>): void {
  it('treats a payment that a person found as created, at once', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference, referenceNumber } = await stage.createUnresolved(store);
    await store.markCreated(reference, { referenceNumber });
    const payment = await (await stage.openPayments()).create(input);
    assertPayment(payment, { state: 'created', replayed: true, referenceNumber });
    // Twice is allowed, and its callback then knows it.
    await store.markCreated(reference, { referenceNumber });
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    await (await stage.callback(store, record)).runsWith({ secondPayment: false, current: true });
    await store.markCreated(reference, { referenceNumber });
    assertPayment(await store.get(reference), { status: 'paid' });
  });
  it('treats a payment that a person did not find as rejected, and sends it when it is created again', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference } = await stage.createUnresolved(store);
    await stage.outlive(reference);
    const item = await stage.listed(reference);
    // As a page sends it back, and sends it again.
    await store.markNotCreated(JSON.parse(JSON.stringify(item)));
    await store.markNotCreated(JSON.parse(JSON.stringify(item)));
    assertPayment(await store.get(reference), { state: 'rejected', attempts: 1 });
    await store.recover();
    expect(stage.service.requestsFor(reference).length).toBe(1);
    assertPayment(await store.create(input), { state: 'created', replayed: false, attempts: 2 });
    await rejectsWith(store.markNotCreated(item), 'STATE_CHANGED');
    assertPayment(await store.get(reference), { state: 'created', attempts: 2 });
  });
  it('treats a payment as created whose callback comes although a person did not find it', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference, referenceNumber } = await stage.createUnresolved(store);
    await stage.outlive(reference);
    await store.markNotCreated(await stage.listed(reference));
    await stage.pay(store, reference, referenceNumber);
    assertPayment(await store.create(input), { state: 'created', replayed: true, status: 'paid' });
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('takes back a success that came from something in front of the service', async (stage) => {
    const { input, reference, store } = await stage.payment();
    assertPayment(await store.create(input), { state: 'created', status: 'pending' });
    const early = await stage.listed(reference, 'no-callback');
    await rejectsWith(store.markNotCreated(early), 'STATE_CHANGED');
    await stage.outlive(reference);
    const item = await stage.listed(reference, 'no-callback');
    // Whoever looks before the lifetime is over may overlook the payment.
    await rejectsWith(store.markNotCreated(listedEarlier(item)), 'STATE_CHANGED');
    assertPayment(await store.get(reference), { state: 'created' });
    await store.markNotCreated(item);
    const rejected = await store.get(reference);
    assertPayment(rejected, { state: 'rejected', attempts: 1 });
    expect(rejected).not.toHaveProperty('payment');
    assertPayment(await store.create(input), { state: 'created', replayed: false, attempts: 2 });
  });
  it('does not take back what another person or lookUp has found since it was listed', async (stage) => {
    const store = await stage.openPayments();
    const { reference, referenceNumber } = await stage.createUnresolved(store);
    await stage.outlive(reference);
    // The store's clock may not move between the steps.
    await stage.letPass(reference, 1_000);
    const unresolved = listedEarlier(await stage.listed(reference), 1);
    await store.markCreated(reference, { referenceNumber });
    await rejectsWith(store.markNotCreated(unresolved), 'STATE_CHANGED');
    await stage.letPass(reference, 1_000);
    const waiting = listedEarlier(await stage.listed(reference, 'no-callback'), 1);
    const found = { referenceNumber, status: 'paid' };
    await store.recover({ lookUp: (asked) => (asked === reference ? found : undefined) });
    await rejectsWith(store.markNotCreated(waiting), 'STATE_CHANGED');
    assertPayment(await store.get(reference), { state: 'created', referenceNumber });
    await store.markNotCreated(await stage.listed(reference, 'no-callback'));
    assertPayment(await store.get(reference), { state: 'rejected' });
  });
  it('does not take back a payment whose callback has come since it was listed', async (stage) => {
    const { input, reference, store } = await stage.payment();
    await store.create(input);
    await stage.outlive(reference);
    const item = await stage.listed(reference, 'no-callback');
    const change = stage.paymentOf(reference);
    await stage.deliverFailing(store, change()).rejects();
    await rejectsWith(store.markNotCreated(item), 'STATE_CHANGED');
    assertPayment(await store.get(reference), { state: 'created', status: 'authorized' });
  });
  it('decides only about what was listed', async (stage) => {
    const store = await stage.openPayments();
    const [created, recorded, rejected] = [createInput(), createInput(), createInput()];
    const sending = createInput();
    await store.create(created);
    await stage.record(store, recorded);
    stage.service.answer(rejected.merchantPaymentReference, 422);
    await isRefused(store.create(rejected));
    const held = stage.service.hold(sending.merchantPaymentReference);
    stage.start(store.create(sending));
    await held.received;
    const listedAt = new Date();
    for (const [input, state, attempts] of [
      [created, 'created', 1],
      [recorded, 'recorded', 0],
      [rejected, 'rejected', 1],
      [sending, 'sending', 1],
    ] as const) {
      const { merchantPaymentReference } = input;
      const found = { referenceNumber: randomUUID() };
      await rejectsWith(store.markCreated(merchantPaymentReference, found), 'STATE_CHANGED');
      const item = { merchantPaymentReference, attempts: attempts + 1, listedAt };
      await rejectsWith(store.markNotCreated(item), 'STATE_CHANGED');
      assertPayment(await store.get(merchantPaymentReference), { state, attempts });
    }
    const unknown = { merchantPaymentReference: randomUUID(), attempts: 1, listedAt };
    await rejectsWith(store.markNotCreated(unknown), 'UNKNOWN_REFERENCE');
    const found = { referenceNumber: 'PAY-1' };
    await rejectsWith(store.markCreated(randomUUID(), found), 'UNKNOWN_REFERENCE');
  });
  it('refuses an item that is none, and one without what the decision is based on', async (stage) => {
    const store = await stage.openPayments();
    const { reference } = await stage.createUnresolved(store);
    await stage.outlive(reference);
    const item = await stage.listed(reference);
    for (const part of [
      undefined,
      reference,
      { ...item, kind: 'failed-change' },
      { ...item, merchantPaymentReference: '' },
      { ...item, attempts: undefined },
      { ...item, listedAt: undefined },
      { ...item, listedAt: Date.now() },
      { ...item, listedAt: new Date(Number.NaN) },
      { ...item, listedAt: 'today' },
    ]) {
      await rejectsWith(store.markNotCreated(part as ListedPayment), 'INVALID_OPTION');
    }
    assertPayment(await store.get(reference), { state: 'unresolved' });
  });
  it('refuses the decision of a second person when the payment was sent again after the first', async (stage) => {
    const { store, input, reference } = await stage.payment();
    stage.service.answer(reference, 500, 'answer-lost');
    assertPayment(await store.create(input), { state: 'unresolved', attempts: 1 });
    await stage.outlive(reference);
    // Two people look it up, and find nothing.
    const item = await stage.listed(reference);
    await store.markNotCreated(item);
    assertPayment(await store.create(input), { state: 'unresolved', attempts: 2 });
    await stage.outlive(reference);
    const late = (await stage.openPayments()).markNotCreated(item);
    await rejectsWith(late, 'STATE_CHANGED');
    assertPayment(await store.create(input), { state: 'unresolved', replayed: true });
    expect(stage.service.paymentsOf(reference).length).toBe(1);
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
  it('lists an unresolved payment only when the service can no longer create it, or a look would be too early', async (stage) => {
    const { store, input, reference } = await stage.payment();
    const held = stage.service.hold(reference);
    const caller = new AbortController();
    const call = stage.start(store.create(input, { signal: caller.signal }));
    await held.received;
    caller.abort();
    assertPayment(await call, { state: 'unresolved' });
    await stage.loseLease(reference);
    // A person looks up what is listed now, finds nothing, and decides later.
    expect(await stage.itemOf('unresolved', reference)).toBeUndefined();
    const listedAt = new Date();
    const guessed = { merchantPaymentReference: reference, attempts: 1, listedAt };
    expect(ofKind('unresolved', await stage.attentionTo(reference))).toStrictEqual([]);
    await rejectsWith(store.markNotCreated(guessed), 'STATE_CHANGED');
    // The service is slow.
    held.answer('answer-lost');
    await new Promise(setImmediate);
    const [referenceNumber = ''] = stage.service.paymentsOf(reference);
    await stage.outlive(reference);
    const item = await stage.listed(reference);
    await rejectsWith(store.markNotCreated(listedEarlier(item)), 'STATE_CHANGED');
    // The customer clicks again.
    await store.create(input);
    expect(stage.service.paymentsOf(reference)).toStrictEqual([referenceNumber]);
    await store.markCreated(reference, { referenceNumber });
    assertPayment(await store.get(reference), { state: 'created', referenceNumber });
  });
  it('takes a time in the future for none of a list', async (stage) => {
    const store = await stage.openPayments();
    const { reference: merchantPaymentReference } = await stage.createUnresolved(store);
    const listedAt = '2999-01-01T00:00:00.000Z';
    const guessed = { merchantPaymentReference, attempts: 1, listedAt };
    await rejectsWith(store.markNotCreated(guessed), 'STATE_CHANGED');
    assertPayment(await store.get(merchantPaymentReference), { state: 'unresolved' });
  });
}
