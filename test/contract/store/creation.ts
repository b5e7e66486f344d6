import { expect } from 'vitest';
import { RequestError } from '../../../src/errors.js';
import { outcomeOf } from '../../store/outcome-of.js';
import type { It } from './callback-stage.js';
import { createPayment } from './changes.js';
import {
  assertPayment,
  createInput,
  isRefused,
  recordIn,
  rejectsWith,
  type Stage,
} from './stage.js';

/** A payment is sent once. */
export function testCreation(it: It<Stage>): void {
  it('sends a payment and returns the answer of the service', async (stage) => {
    const { input, reference, store } = await stage.payment();
    const options = { extraBody: { note: 'two words', tags: [1, { b: null, a: true }] } };
    const payment = await store.create(input, options);
    const [referenceNumber] = stage.service.paymentsOf(reference);
    assertPayment(payment, { state: 'created', replayed: false, attempts: 1, referenceNumber });
    expect(stage.service.requestsFor(reference)).toStrictEqual([
      { ...input, ...options.extraBody },
    ]);
    expect(payment.input).toStrictEqual(input);
    expect(payment.extraBody).toStrictEqual(options.extraBody);
  });
  it('creates nothing without a client, and shares its data with stores that do', async (stage) => {
    const store = await stage.openManaged();
    for (const name of [
      'create',
      'record',
      'send',
      'get',
      'markCreated',
      'markNotCreated',
      'recover',
      'startRecovery',
    ]) {
      expect(Reflect.get(store, name)).toThrow(/client is missing, and \w+\(\) needs it/);
    }
    const { reference } = await stage.createUnresolved(await stage.openPayments());
    await stage.outlive(reference);
    expect(await stage.attentionTo(reference)).toMatchObject([{ kind: 'unresolved' }]);
  });
  it('returns the stored payment when it is created again, and sends nothing', async (stage) => {
    const input = createInput();
    const { merchantPaymentReference: reference } = input;
    const extraBody = { a: 1, b: { c: 2, d: 3 } };
    await (await stage.openPayments()).create(input, { extraBody });
    const [referenceNumber] = stage.service.paymentsOf(reference);
    for (const store of [await stage.openPayments(), await stage.openPayments()]) {
      // The order of keys does not matter.
      const same = { b: { d: 3, c: 2 }, a: 1 };
      const payment = await store.create(input, { extraBody: same });
      assertPayment(payment, { state: 'created', replayed: true, referenceNumber });
    }
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('refuses another payment under the same reference, and sends nothing', async (stage) => {
    const { input, reference, store } = await stage.payment();
    await store.create(input);
    for (const other of [
      { ...input, amount: input.amount + 1 },
      { ...input, currency: 'USD' },
    ]) {
      await rejectsWith(store.create(other), 'REFERENCE_CONFLICT');
      await rejectsWith(stage.record(store, other), 'REFERENCE_CONFLICT');
    }
    await rejectsWith(store.create(input, { extraBody: { a: 1 } }), 'REFERENCE_CONFLICT');
    expect(stage.service.requestsFor(reference).length).toBe(1);
    assertPayment(await store.get(reference), { state: 'created' });
  });
  it('sends one of ten concurrent creations, and all return its payment', async (stage) => {
    const input = createInput();
    const { merchantPaymentReference: reference } = input;
    const stores = [await stage.openPayments(), await stage.openPayments()];
    const calls = Array.from({ length: 5 }, () => stores).flat();
    const payments = await Promise.all(calls.map((store) => store.create(input)));
    const [referenceNumber, ...more] = stage.service.paymentsOf(reference);
    expect(more).toStrictEqual([]);
    for (const payment of payments) assertPayment(payment, { state: 'created', referenceNumber });
    const sent = payments.filter(({ replayed }) => !replayed);
    expect(sent.length).toBe(1);
  });
  it('waits for a payment that is being sent, for as long as the call may take', async (stage) => {
    const [one, other] = [await stage.openPayments(), await stage.openPayments()];
    const { input, reference, held, call } = await stage.createHeld(one);
    for (const store of [one, other]) {
      const impatient = await store.create(input, { timeoutMs: 1 });
      assertPayment(impatient, { state: 'sending', replayed: true });
    }
    const waiting = [one, other].map((store) => stage.start(store.create(input)));
    held.answer();
    const referenceNumber = recordIn(await call)?.referenceNumber;
    for (const one of await Promise.all(waiting)) {
      assertPayment(one, { state: 'created', replayed: true, referenceNumber });
    }
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('returns unresolved, with the error, when the outcome is unknown, and does not send again', async (stage) => {
    const { input, reference, store } = await stage.payment();
    for (const kind of ['answer-lost', 500] as const) {
      const one = createInput();
      stage.service.answer(one.merchantPaymentReference, kind);
      const payment = await store.create(one);
      assertPayment(payment, { state: 'unresolved', replayed: false });
      expect(payment.error?.requestOutcome).toBe('unknown');
      const failure = { requestOutcome: 'unknown', code: payment.error?.code };
      expect(payment).toMatchObject({ failure });
    }
    stage.service.answer(reference, 'answer-lost');
    await store.create(input);
    for (const again of [store, await stage.openPayments()]) {
      assertPayment(await again.create(input), { state: 'unresolved', replayed: true });
      assertPayment(await again.send(reference), { state: 'unresolved', replayed: true });
      await rejectsWith(again.create({ ...input, amount: 1 }), 'REFERENCE_CONFLICT');
    }
    await store.recover();
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('treats a payment as created when the body of the answer is lost', async (stage) => {
    const { input, reference, store } = await stage.payment();
    stage.service.answer(reference, 'body-lost');
    const payment = await store.create(input);
    assertPayment(payment, { state: 'created', replayed: false, referenceNumber: undefined });
    expect(payment.error?.requestOutcome).toBe('accepted');
    assertPayment(await store.create(input), { state: 'created', replayed: true });
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('treats a 409 as a payment that may exist, and does not send it again', async (stage) => {
    const { input, reference, store } = await stage.payment();
    stage.service.answer(reference, 409);
    const payment = await store.create(input);
    assertPayment(payment, { state: 'unresolved', attempts: 1 });
    expect(payment.error?.requestOutcome).toBe('rejected');
    assertPayment(await store.create(input), { state: 'unresolved', replayed: true });
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('returns the error of a rejected payment, and sends the payment once it is corrected', async (stage) => {
    const { input, reference, store } = await stage.payment();
    stage.service.answer(reference, 422, 422);
    const { code } = await isRefused(store.create(input));
    const stored = await store.get(reference);
    assertPayment(stored, { state: 'rejected', attempts: 1 });
    const failure = { code, requestOutcome: 'rejected', httpStatus: 422 };
    expect(stored).toMatchObject({ failure });
    await isRefused(store.create(input));
    const corrected = { ...input, amount: input.amount + 1 };
    const payment = await (await stage.openPayments()).create(corrected);
    assertPayment(payment, { state: 'created', replayed: false, attempts: 3 });
    expect(payment).not.toHaveProperty('failure');
    expect(payment.input).toStrictEqual(corrected);
    await rejectsWith(store.create(input), 'REFERENCE_CONFLICT');
  });
  for (const [what, answer] of [
    ['there is no connection', 'refused'],
    ['the service answers 429', 429],
  ] as const) {
    it(`keeps a payment recorded when ${what}`, async (stage) => {
      const input = createInput();
      const { merchantPaymentReference: reference } = input;
      stage.service.answer(reference, answer);
      const store = await stage.openPayments();
      const error = expect.any(RequestError);
      assertPayment(await store.create(input), { state: 'recorded', replayed: false, error });
      assertPayment(await store.get(reference), { state: 'recorded', attempts: 1 });
      await rejectsWith(store.create({ ...input, amount: 1 }), 'REFERENCE_CONFLICT');
      const payment = await (await stage.openPayments()).create(input);
      assertPayment(payment, { state: 'created', replayed: false, attempts: 2 });
      expect(stage.service.paymentsOf(reference).length).toBe(1);
    });
  }
  it('throws when the credentials are wrong, and keeps the payment', async (stage) => {
    const { input, reference, store } = await stage.payment();
    stage.service.answer(reference, 401);
    await rejectsWith(store.create(input), 'INVALID_CREDENTIALS');
    stage.service.answer(reference, 401);
    await rejectsWith(store.send(reference), 'INVALID_CREDENTIALS');
    assertPayment(await store.create(input), { state: 'created', replayed: false, attempts: 3 });
  });
  it('stores nothing for an invalid payment', async (stage) => {
    const input = createInput({ amount: Number.NaN });
    const store = await stage.openPayments();
    await rejectsWith(store.create(input), 'INVALID_REQUEST');
    await rejectsWith(stage.record(store, input), 'INVALID_REQUEST');
    const fine = { ...input, amount: 1 };
    await rejectsWith(store.create(fine, { timeoutMs: 0 }), 'INVALID_OPTION');
    await rejectsWith(store.create(fine, { signal: AbortSignal.abort() }), 'ABORTED');
    expect(await store.get(input.merchantPaymentReference)).toBeUndefined();
  });
}

/** Recorded payments are sent later. */
export function testRecording(it: It<Stage>): void {
  it('records a payment without sending it, and sends it later', async (stage) => {
    const { input, reference, store } = await stage.payment();
    await stage.record(store, input);
    await stage.record(store, input);
    const other = await stage.openPayments();
    assertPayment(await other.get(reference), { state: 'recorded', attempts: 0 });
    expect(stage.service.requestsFor(reference)).toStrictEqual([]);
    assertPayment(await other.send(reference), { state: 'created', replayed: false });
    assertPayment(await store.send(reference), { state: 'created', replayed: true });
    assertPayment(await store.create(input), { state: 'created', replayed: true });
    expect(stage.service.requestsFor(reference)).toStrictEqual([input]);
  });
  it('records extraBody too, and no other payment under the same reference', async (stage) => {
    const { input, reference, store } = await stage.payment();
    const extraBody = { note: 'a' };
    await stage.transaction((tx) => store.record(input, { tx, extraBody }));
    await rejectsWith(stage.record(store, { ...input, amount: 1 }), 'REFERENCE_CONFLICT');
    await store.send(reference);
    expect(stage.service.requestsFor(reference)).toStrictEqual([{ ...input, ...extraBody }]);
  });
  it('records a rejected payment again, with corrections', async (stage) => {
    const { input, reference, store } = await stage.payment();
    stage.service.answer(reference, 400);
    await isRefused(store.create(input));
    const corrected = { ...input, amount: input.amount + 1 };
    await stage.record(store, corrected);
    assertPayment(await store.get(reference), { state: 'recorded' });
    assertPayment(await store.send(reference), { state: 'created', replayed: false });
    expect(stage.service.requestsFor(reference)).toStrictEqual([input, corrected]);
  });
  it('refuses to send a payment that is not stored', async (stage) => {
    const { merchantPaymentReference: reference } = createInput();
    const store = await stage.openPayments();
    await rejectsWith(store.send(reference), 'UNKNOWN_REFERENCE');
    expect(stage.service.requestsFor(reference)).toStrictEqual([]);
  });
}

/** For a store with transactions. */
export function testTransactions(it: It<Stage>): void {
  it('does not know a payment whose transaction was rolled back', async (stage) => {
    const { input, store } = await stage.payment();
    const undone = new Error('the order was not stored');
    const call = stage.transaction(async (tx) => {
      await store.record(input, { tx });
      throw undone;
    });
    expect(await call.catch((error: unknown) => error)).toBe(undone);
    expect(await store.get(input.merchantPaymentReference)).toBeUndefined();
    await rejectsWith(store.send(input.merchantPaymentReference), 'UNKNOWN_REFERENCE');
  });
  it('refuses to record without a transaction, and stores nothing', async (stage) => {
    const { input, store } = await stage.payment();
    for (const tx of [undefined, null, {}, stage.database]) {
      await rejectsWith(store.record(input, { tx }), 'INVALID_OPTION');
    }
    await rejectsWith(store.record(input, {} as never), 'INVALID_OPTION');
    expect(await store.get(input.merchantPaymentReference)).toBeUndefined();
  });
  it('stores nothing through a transaction that has ended', async (stage) => {
    const { input, store } = await stage.payment();
    let ended: unknown;
    await stage.transaction(async (tx) => {
      ended = tx;
    });
    await expect(store.record(input, { tx: ended })).rejects.toThrow();
    expect(await store.get(input.merchantPaymentReference)).toBeUndefined();
  });
  it("records a payment in the transaction of a change's work, or not at all", async (stage) => {
    const { input, reference, store } = await stage.payment();
    const change = createPayment()();
    const undone = new Error('out of stock');
    const call = outcomeOf(store, change, async ({ tx }) => {
      await store.record(input, { tx });
      throw undone;
    });
    expect(await call.catch((error: unknown) => error)).toBe(undone);
    expect(await store.get(reference)).toBeUndefined();
    expect(await outcomeOf(store, change, ({ tx }) => store.record(input, { tx }))).toBe(
      'processed',
    );
    assertPayment(await store.get(reference), { state: 'recorded' });
  });
}
