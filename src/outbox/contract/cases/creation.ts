import assert from 'node:assert/strict';
import { RequestError } from '../../../errors.js';
import {
  assertPayment,
  type ContractCase,
  createInput,
  needing,
  rejectsWith,
  test,
} from '../stage.js';

/** A payment is sent once. */
export const createCases: readonly ContractCase[] = [
  test('sends a payment and returns the answer of the service', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    const options = { extraBody: { note: 'two words', tags: [1, { b: null, a: true }] } };
    const payment = await outbox.create(input, options);
    const [referenceNumber] = stage.service.paymentsOf(reference);
    assertPayment(payment, { state: 'created', replayed: false, attempts: 1, referenceNumber });
    assert.deepEqual(stage.service.requestsFor(reference), [{ ...input, ...options.extraBody }]);
    assert.deepEqual(payment.input, input);
    assert.deepEqual(payment.extraBody, options.extraBody);
  }),
  test('returns the stored payment when it is created again, and sends nothing', async (stage) => {
    const input = createInput();
    const { merchantPaymentReference: reference } = input;
    const extraBody = { a: 1, b: { c: 2, d: 3 } };
    await (await stage.open()).create(input, { extraBody });
    const [referenceNumber] = stage.service.paymentsOf(reference);
    for (const outbox of [await stage.open(), await stage.open()]) {
      // The order of keys does not matter.
      const same = { b: { d: 3, c: 2 }, a: 1 };
      const payment = await outbox.create(input, { extraBody: same });
      assertPayment(payment, { state: 'created', replayed: true, referenceNumber });
    }
    assert.equal(stage.service.requestsFor(reference).length, 1, 'it was sent again');
  }),
  test('refuses another payment under the same reference, and sends nothing', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    await outbox.create(input);
    for (const other of [
      { ...input, amount: input.amount + 1 },
      { ...input, currency: 'USD' },
    ]) {
      await rejectsWith(outbox.create(other), 'REFERENCE_CONFLICT');
      await rejectsWith(stage.record(outbox, other), 'REFERENCE_CONFLICT');
    }
    await rejectsWith(outbox.create(input, { extraBody: { a: 1 } }), 'REFERENCE_CONFLICT');
    assert.equal(stage.service.requestsFor(reference).length, 1);
    assertPayment(await outbox.get(reference), { state: 'created' });
  }),
  test('sends one of ten concurrent creations, and all return its payment', async (stage) => {
    const input = createInput();
    const { merchantPaymentReference: reference } = input;
    const outboxes = [await stage.open(), await stage.open()];
    const calls = Array.from({ length: 5 }, () => outboxes).flat();
    const payments = await Promise.all(calls.map((outbox) => outbox.create(input)));
    const [referenceNumber, ...more] = stage.service.paymentsOf(reference);
    assert.deepEqual(more, [], 'it was sent more than once');
    for (const payment of payments) assertPayment(payment, { state: 'created', referenceNumber });
    const sent = payments.filter(({ replayed }) => !replayed);
    assert.equal(sent.length, 1, `${sent.length} calls say that they sent it, not one`);
  }),
  test('refuses another payment while one is being sent under the reference', async (stage) => {
    const outbox = await stage.open();
    const { input, held, call } = await stage.createHeld(outbox);
    const other = { ...input, amount: 1 };
    await rejectsWith(outbox.create(other), 'REFERENCE_CONFLICT');
    await rejectsWith((await stage.open()).create(other), 'REFERENCE_CONFLICT');
    held.answer();
    assertPayment(await call, { state: 'created', replayed: false });
  }),
  test('waits for a payment that is being sent, for as long as the call may take', async (stage) => {
    const [one, other] = [await stage.open(), await stage.open()];
    const { input, reference, held, call } = await stage.createHeld(one);
    for (const outbox of [one, other]) {
      const impatient = await outbox.create(input, { timeoutMs: 1 });
      assertPayment(impatient, { state: 'sending', replayed: true });
    }
    const waiting = [one, other].map((outbox) => stage.start(outbox.create(input)));
    held.answer();
    const { payment } = await call;
    const referenceNumber = payment?.referenceNumber;
    for (const one of await Promise.all(waiting)) {
      assertPayment(one, { state: 'created', replayed: true, referenceNumber });
    }
    assert.equal(stage.service.requestsFor(reference).length, 1);
  }),
  test('returns unresolved, with the error, when the outcome is unknown, and does not send again', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    for (const kind of ['answer-lost', 500] as const) {
      const one = createInput();
      stage.service.answer(one.merchantPaymentReference, kind);
      const payment = await outbox.create(one);
      assertPayment(payment, { state: 'unresolved', replayed: false });
      assert.equal(payment.error?.requestOutcome, 'unknown');
      assert.equal(payment.failure?.requestOutcome, 'unknown');
      assert.equal(payment.failure?.code, payment.error?.code);
    }
    stage.service.answer(reference, 'answer-lost');
    await outbox.create(input);
    for (const again of [outbox, await stage.open()]) {
      assertPayment(await again.create(input), { state: 'unresolved', replayed: true });
      assertPayment(await again.send(reference), { state: 'unresolved', replayed: true });
      await rejectsWith(again.create({ ...input, amount: 1 }), 'REFERENCE_CONFLICT');
    }
    await outbox.recover();
    assert.equal(stage.service.requestsFor(reference).length, 1);
  }),
  test('treats a payment as created when the body of the answer is lost', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    stage.service.answer(reference, 'body-lost');
    const payment = await outbox.create(input);
    assertPayment(payment, { state: 'created', replayed: false, referenceNumber: undefined });
    assert.equal(payment.error?.requestOutcome, 'accepted');
    assertPayment(await outbox.create(input), { state: 'created', replayed: true });
    assert.equal(stage.service.requestsFor(reference).length, 1);
  }),
  test('treats a 409 as a payment that may exist, and does not send it again', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    stage.service.answer(reference, 409);
    const payment = await outbox.create(input);
    assertPayment(payment, { state: 'unresolved', attempts: 1 });
    assert.equal(payment.error?.requestOutcome, 'rejected');
    assertPayment(await outbox.create(input), { state: 'unresolved', replayed: true });
    assert.equal(stage.service.requestsFor(reference).length, 1);
  }),
  test('throws the error of a rejected payment, and sends the payment once it is corrected', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    stage.service.answer(reference, 422, 422);
    await rejectsWith(outbox.create(input), 'REFUSED');
    const stored = await outbox.get(reference);
    assertPayment(stored, { state: 'rejected', attempts: 1 });
    assert.deepEqual(stored?.failure, {
      code: 'REFUSED',
      requestOutcome: 'rejected',
      httpStatus: 422,
    });
    await rejectsWith(outbox.create(input), 'REFUSED');
    const corrected = { ...input, amount: input.amount + 1 };
    const payment = await (await stage.open()).create(corrected);
    assertPayment(payment, { state: 'created', replayed: false, attempts: 3 });
    assert.equal(payment.failure, undefined, 'the failure of an earlier attempt is kept');
    assert.deepEqual(payment.input, corrected);
    await rejectsWith(outbox.create(input), 'REFERENCE_CONFLICT');
  }),
  ...(['refused', 429] as const).map(
    (kind): ContractCase => ({
      name: `keeps a payment recorded when ${kind === 429 ? 'the service answers 429' : 'there is no connection'}`,
      run: async (stage) => {
        const input = createInput();
        const { merchantPaymentReference: reference } = input;
        stage.service.answer(reference, kind);
        const outbox = await stage.open();
        const error = await outbox.create(input).catch((thrown: unknown) => thrown);
        assert.ok(error instanceof RequestError, 'create must throw the error of the client');
        assertPayment(await outbox.get(reference), { state: 'recorded', attempts: 1 });
        await rejectsWith(outbox.create({ ...input, amount: 1 }), 'REFERENCE_CONFLICT');
        const payment = await (await stage.open()).create(input);
        assertPayment(payment, { state: 'created', replayed: false, attempts: 2 });
        assert.equal(stage.service.paymentsOf(reference).length, 1);
      },
    }),
  ),
  test('stores nothing for an invalid payment', async (stage) => {
    const input = createInput({ amount: Number.NaN });
    const outbox = await stage.open();
    await rejectsWith(outbox.create(input), 'INVALID_REQUEST');
    await rejectsWith(stage.record(outbox, input), 'INVALID_REQUEST');
    const fine = { ...input, amount: 1 };
    await rejectsWith(outbox.create(fine, { timeoutMs: 0 }), 'INVALID_OPTION');
    await rejectsWith(outbox.create(fine, { signal: AbortSignal.abort() }), 'ABORTED');
    assert.equal(await outbox.get(input.merchantPaymentReference), undefined, 'it is stored');
  }),
];

/** Recorded payments are sent later. */
export const recordCases: readonly ContractCase[] = [
  test('records a payment without sending it, and sends it later', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    await stage.record(outbox, input);
    await stage.record(outbox, input);
    const other = await stage.open();
    assertPayment(await other.get(reference), { state: 'recorded', attempts: 0 });
    assert.deepEqual(stage.service.requestsFor(reference), []);
    assertPayment(await other.send(reference), { state: 'created', replayed: false });
    assertPayment(await outbox.send(reference), { state: 'created', replayed: true });
    assertPayment(await outbox.create(input), { state: 'created', replayed: true });
    assert.deepEqual(stage.service.requestsFor(reference), [input]);
  }),
  test('records extraBody too', async (stage) => {
    const { input, outbox } = await stage.scene();
    const extraBody = { note: 'a' };
    const record = (tx: unknown) => outbox.record(input, { tx, extraBody });
    await stage.transaction(record);
    await outbox.send(input.merchantPaymentReference);
    const [sent] = stage.service.requestsFor(input.merchantPaymentReference);
    assert.deepEqual(sent, { ...input, ...extraBody });
  }),
  ...needing('transaction', [
    test('does not know a payment whose transaction was rolled back', async (stage) => {
      const { input, outbox } = await stage.scene();
      const undone = new Error('the order was not stored');
      const call = stage.transaction(async (tx) => {
        await outbox.record(input, { tx });
        throw undone;
      });
      assert.equal(await call.catch((error: unknown) => error), undone);
      assert.equal(await outbox.get(input.merchantPaymentReference), undefined, 'it is stored');
      await rejectsWith(outbox.send(input.merchantPaymentReference), 'UNKNOWN_REFERENCE');
    }),
  ]),
  test('refuses to record another payment under the same reference', async (stage) => {
    const { input, outbox } = await stage.scene();
    await stage.record(outbox, input);
    const other = { ...input, amount: 1 };
    await rejectsWith(stage.record(outbox, other), 'REFERENCE_CONFLICT');
    await rejectsWith(outbox.create(other), 'REFERENCE_CONFLICT');
    await outbox.send(input.merchantPaymentReference);
    assert.deepEqual(stage.service.requestsFor(input.merchantPaymentReference), [input]);
  }),
  test('records a rejected payment again, with corrections', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    stage.service.answer(reference, 400);
    await rejectsWith(outbox.create(input), 'REFUSED');
    const corrected = { ...input, amount: input.amount + 1 };
    await stage.record(outbox, corrected);
    assertPayment(await outbox.get(reference), { state: 'recorded' });
    assertPayment(await outbox.send(reference), { state: 'created', replayed: false });
    assert.deepEqual(stage.service.requestsFor(reference), [input, corrected]);
  }),
  test('refuses to send a payment that is not stored', async (stage) => {
    const { merchantPaymentReference: reference } = createInput();
    const outbox = await stage.open();
    await rejectsWith(outbox.send(reference), 'UNKNOWN_REFERENCE');
    assert.deepEqual(stage.service.requestsFor(reference), []);
  }),
];
