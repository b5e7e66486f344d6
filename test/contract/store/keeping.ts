import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { oddNames } from '../odd-names.js';
import type { It } from './callback-stage.js';
import { createPayment, recordOf, seconds } from './changes.js';
import {
  assertPayment,
  collect,
  createInput,
  isRefused,
  ofKind,
  referencesOf,
  rejectsWith,
  type Stage,
} from './stage.js';

/** A person resolves a payment. */
export function testResolution(it: It<Stage>): void {
  it('treats a payment that a person found as created', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference } = await stage.createUnresolved(store);
    const [referenceNumber = ''] = stage.service.paymentsOf(reference);
    await store.resolve(reference, { created: { referenceNumber } }, { attempts: 1 });
    const payment = await (await stage.openPayments()).create(input);
    assertPayment(payment, { state: 'created', replayed: true, referenceNumber });
    // Resolving it twice is allowed, and its callback then knows it.
    await store.resolve(reference, { created: { referenceNumber } }, { attempts: 1 });
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    await (await stage.callback(store, record)).runsWith({ secondPayment: false, current: true });
    assertPayment(await store.get(reference), { status: 'paid' });
  });
  it('treats a payment that a person did not find as rejected, and sends it when it is created again', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference } = await stage.createUnresolved(store);
    await stage.loseLease(reference);
    await store.resolve(reference, 'not-created', { attempts: 1 });
    assertPayment(await store.get(reference), { state: 'rejected' });
    await store.recover();
    expect(stage.service.requestsFor(reference).length).toBe(1);
    assertPayment(await store.create(input), { state: 'created', replayed: false, attempts: 2 });
  });
  it('resolves only unresolved payments', async (stage) => {
    const store = await stage.openPayments();
    const created = createInput();
    const recorded = createInput();
    const rejected = createInput();
    const sending = createInput();
    await store.create(created);
    await stage.record(store, recorded);
    stage.service.answer(rejected.merchantPaymentReference, 422);
    await isRefused(store.create(rejected));
    const held = stage.service.hold(sending.merchantPaymentReference);
    stage.start(store.create(sending));
    await held.received;
    for (const [input, state, attempts] of [
      [created, 'created', 1],
      [recorded, 'recorded', 0],
      [rejected, 'rejected', 1],
      [sending, 'sending', 1],
    ] as const) {
      const reference = input.merchantPaymentReference;
      const found = { created: { referenceNumber: randomUUID() } };
      for (const resolution of ['not-created', found] as const) {
        await rejectsWith(store.resolve(reference, resolution, { attempts }), 'STATE_CHANGED');
      }
      assertPayment(await store.get(reference), { state, attempts });
    }
    const unknown = store.resolve(randomUUID(), 'not-created', { attempts: 1 });
    await rejectsWith(unknown, 'UNKNOWN_REFERENCE');
  });
  it('refuses the decision of a second person when the payment was sent again after the first', async (stage) => {
    const { store, input, reference } = await stage.payment();
    stage.service.answer(reference, 500, 'answer-lost');
    // Two people look it up, and find nothing.
    const seen = await store.create(input);
    assertPayment(seen, { state: 'unresolved', attempts: 1 });
    await stage.loseLease(reference);
    await store.resolve(reference, 'not-created', seen);
    assertPayment(await store.create(input), { state: 'unresolved', attempts: 2 });
    await stage.loseLease(reference);
    const late = (await stage.openPayments()).resolve(reference, 'not-created', seen);
    await rejectsWith(late, 'STATE_CHANGED');
    assertPayment(await store.create(input), { state: 'unresolved', replayed: true });
    expect(stage.service.paymentsOf(reference).length).toBe(1);
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
  it('refuses a decision when recover has sent the payment again since', async (stage) => {
    const store = await stage.openPayments();
    await store.recover();
    const { reference, held, call } = await stage.createHeld(store);
    await stage.loseLease(reference);
    const seen = await store.get(reference);
    assertPayment(seen, { state: 'unresolved', attempts: 1 });
    // The sender was only slow, and has sent nothing.
    stage.service.answer(reference, 'answer-lost');
    held.answer('refused');
    await rejectsWith(call, 'CONNECTION_FAILED');
    await store.recover();
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 2 });
    await stage.loseLease(reference);
    const late = store.resolve(reference, 'not-created', { attempts: seen?.attempts ?? 0 });
    await rejectsWith(late, 'STATE_CHANGED');
    expect(stage.service.paymentsOf(reference).length).toBe(1);
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 2 });
  });
  it('refuses a decision about other attempts than those of the payment', async (stage) => {
    const store = await stage.openPayments();
    const { reference, referenceNumber } = await stage.createUnresolved(store);
    await stage.loseLease(reference);
    for (const resolution of ['not-created', { created: { referenceNumber } }] as const) {
      for (const attempts of [0, 2]) {
        await rejectsWith(store.resolve(reference, resolution, { attempts }), 'STATE_CHANGED');
      }
    }
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 1 });
  });
  it('accepts that a payment was not created once the lease of its last attempt has ended', async (stage) => {
    const store = await stage.openPayments();
    const { reference } = await stage.createUnresolved(store);
    const seen = { attempts: 1 };
    await rejectsWith(store.resolve(reference, 'not-created', seen), 'STATE_CHANGED');
    assertPayment(await store.get(reference), { state: 'unresolved' });
    await stage.loseLease(reference);
    await store.resolve(reference, 'not-created', seen);
    assertPayment(await store.get(reference), { state: 'rejected' });
  });
  it('lists an unresolved payment only when its request can no longer arrive, or a look at the service would be too early', async (stage) => {
    const { store, input, reference } = await stage.payment();
    const held = stage.service.hold(reference);
    const caller = new AbortController();
    const call = stage.start(store.create(input, { signal: caller.signal }));
    await held.received;
    caller.abort();
    assertPayment(await call, { state: 'unresolved' });
    // A person looks up what is listed now, finds nothing, and decides later.
    const seen = ofKind('unresolved', await stage.attentionTo(reference));
    expect(stage.service.paymentsOf(reference)).toStrictEqual([]);
    held.answer('answer-lost');
    await new Promise(setImmediate);
    const [referenceNumber = ''] = stage.service.paymentsOf(reference);
    await stage.loseLease(reference);
    for (const item of seen) await store.resolve(reference, 'not-created', item);
    // The customer clicks again.
    await store.create(input);
    expect(stage.service.paymentsOf(reference)).toStrictEqual([referenceNumber]);
    const listed = ofKind('unresolved', await stage.attentionTo(reference));
    expect(listed).toMatchObject([{ attempts: 1, stored: { state: 'unresolved' } }]);
    for (const item of listed)
      await store.resolve(reference, { created: { referenceNumber } }, item);
    assertPayment(await store.get(reference), { state: 'created', referenceNumber });
  });
}

/** Old completed payments are deleted. */
export function testPruning(it: It<Stage>): void {
  it('deletes what is old and has ended, and no open payments or failed changes', async (stage) => {
    const store = await stage.openPayments();
    const [created, rejected, recorded] = [createInput(), createInput(), createInput()];
    await store.create(created);
    stage.service.answer(rejected.merchantPaymentReference, 422);
    await isRefused(store.create(rejected));
    await stage.record(store, recorded);
    const { reference: unresolved } = await stage.createUnresolved(store);
    await stage.loseLease(unresolved);
    // A second payment, a processed change, and a failed one.
    await stage.pay(store, created.merchantPaymentReference);
    const failed = createPayment()();
    await stage.deliverFailing(store, failed).rejects();

    expect(await store.prune(new Date(0))).toBe(0);
    assertPayment(await store.get(created.merchantPaymentReference), { state: 'created' });
    expect((await stage.attentionTo(created.merchantPaymentReference)).length).toBe(1);
    const pruned = await store.prune(new Date(Date.now() + 86_400_000));
    // Payments: created, rejected, and the failed change's. A processed change. A second payment.
    expect(pruned).toBeGreaterThanOrEqual(5);
    expect(await store.get(created.merchantPaymentReference)).toBeUndefined();
    expect(await store.get(rejected.merchantPaymentReference)).toBeUndefined();
    assertPayment(await store.get(recorded.merchantPaymentReference), { state: 'recorded' });
    assertPayment(await store.get(unresolved), { state: 'unresolved' });
    const left = await collect(store.attention({ olderThanMs: 0 }));
    expect([...new Set(left.map(({ kind }) => kind))]).toStrictEqual([
      'unresolved',
      'failed-change',
    ]);
    expect(referencesOf(left)).toContain(unresolved);
    expect(referencesOf(left)).toContain(failed.payment.merchantPaymentReference);
    expect(await store.prune(new Date(Date.now() + 86_400_000))).toBe(0);
  });
  it('runs a pruned change again, and creates a pruned reference again', async (stage) => {
    const { input, reference, store } = await stage.payment();
    await store.create(input);
    const [referenceNumber = ''] = stage.service.paymentsOf(reference);
    const payment = createPayment({ merchantPaymentReference: reference, referenceNumber });
    const [newest, change] = [payment({ updatedAt: seconds(60) }), payment()];
    await stage.deliver(store, newest).answers('processed');
    await stage.deliver(store, change).runsWith({ current: false });
    await store.prune(new Date(Date.now() + 86_400_000));
    // Its watermark is gone too.
    await stage.deliver(store, change).runsWith({ current: true });
    await stage.deliver(store, newest).answers('processed');
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
      expect(payment?.input.amount).toBe(index);
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
