import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { oddNames } from '../odd-names.js';
import { recordOf } from './service.js';
import {
  assertPayment,
  collect,
  createInput,
  type It,
  own,
  referencesOf,
  rejectsWith,
} from './stage.js';

/** A person resolves a payment. */
export function testResolution(it: It): void {
  it('treats a payment that a person found as created', async (stage) => {
    const outbox = await stage.open();
    const { input, reference } = await stage.createUnresolved(outbox);
    const [referenceNumber = ''] = stage.service.paymentsOf(reference);
    await outbox.resolve(reference, { created: { referenceNumber } }, { attempts: 1 });
    const payment = await (await stage.open()).create(input);
    assertPayment(payment, { state: 'created', replayed: true, referenceNumber });
    // Resolving it twice is allowed, and its callback then knows it.
    await outbox.resolve(reference, { created: { referenceNumber } }, { attempts: 1 });
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    expect(await outbox.settle(record, own)).toBe('known');
    assertPayment(await outbox.get(reference), { status: 'paid' });
  });
  it('treats a payment that a person did not find as rejected, and sends it when it is created again', async (stage) => {
    const outbox = await stage.open();
    const { input, reference } = await stage.createUnresolved(outbox);
    await stage.loseLease(reference);
    await outbox.resolve(reference, 'not-created', { attempts: 1 });
    assertPayment(await outbox.get(reference), { state: 'rejected' });
    await outbox.recover();
    expect(stage.service.requestsFor(reference).length).toBe(1);
    assertPayment(await outbox.create(input), { state: 'created', replayed: false, attempts: 2 });
  });
  it('resolves only unresolved payments', async (stage) => {
    const outbox = await stage.open();
    const created = createInput();
    const recorded = createInput();
    const rejected = createInput();
    const sending = createInput();
    await outbox.create(created);
    await stage.record(outbox, recorded);
    stage.service.answer(rejected.merchantPaymentReference, 422);
    await rejectsWith(outbox.create(rejected), 'API_ERROR');
    const held = stage.service.hold(sending.merchantPaymentReference);
    stage.start(outbox.create(sending));
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
        await rejectsWith(outbox.resolve(reference, resolution, { attempts }), 'STATE_CHANGED');
      }
      assertPayment(await outbox.get(reference), { state, attempts });
    }
    const unknown = outbox.resolve(randomUUID(), 'not-created', { attempts: 1 });
    await rejectsWith(unknown, 'UNKNOWN_REFERENCE');
  });
  it('refuses the decision of a second person when the payment was sent again after the first', async (stage) => {
    const { outbox, input, reference } = await stage.scene();
    stage.service.answer(reference, 500, 'answer-lost');
    // Two people look it up, and find nothing.
    const seen = await outbox.create(input);
    assertPayment(seen, { state: 'unresolved', attempts: 1 });
    await stage.loseLease(reference);
    await outbox.resolve(reference, 'not-created', seen);
    assertPayment(await outbox.create(input), { state: 'unresolved', attempts: 2 });
    await stage.loseLease(reference);
    const late = (await stage.open()).resolve(reference, 'not-created', seen);
    await rejectsWith(late, 'STATE_CHANGED');
    assertPayment(await outbox.create(input), { state: 'unresolved', replayed: true });
    expect(stage.service.paymentsOf(reference).length).toBe(1);
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
  it('refuses a decision when recover has sent the payment again since', async (stage) => {
    const outbox = await stage.open();
    await outbox.recover();
    const { reference, held, call } = await stage.createHeld(outbox);
    await stage.loseLease(reference);
    const seen = await outbox.get(reference);
    assertPayment(seen, { state: 'unresolved', attempts: 1 });
    // The sender was only slow, and has sent nothing.
    stage.service.answer(reference, 'answer-lost');
    held.answer('refused');
    await rejectsWith(call, 'CONNECTION_FAILED');
    await outbox.recover();
    assertPayment(await outbox.get(reference), { state: 'unresolved', attempts: 2 });
    await stage.loseLease(reference);
    const late = outbox.resolve(reference, 'not-created', { attempts: seen?.attempts ?? 0 });
    await rejectsWith(late, 'STATE_CHANGED');
    expect(stage.service.paymentsOf(reference).length).toBe(1);
    assertPayment(await outbox.get(reference), { state: 'unresolved', attempts: 2 });
  });
  it('refuses a decision about other attempts than those of the payment', async (stage) => {
    const outbox = await stage.open();
    const { reference, referenceNumber } = await stage.createUnresolved(outbox);
    await stage.loseLease(reference);
    for (const resolution of ['not-created', { created: { referenceNumber } }] as const) {
      for (const attempts of [0, 2]) {
        await rejectsWith(outbox.resolve(reference, resolution, { attempts }), 'STATE_CHANGED');
      }
    }
    assertPayment(await outbox.get(reference), { state: 'unresolved', attempts: 1 });
  });
  it('accepts that a payment was not created once the lease of its last attempt has ended', async (stage) => {
    const outbox = await stage.open();
    const { reference } = await stage.createUnresolved(outbox);
    const seen = { attempts: 1 };
    await rejectsWith(outbox.resolve(reference, 'not-created', seen), 'STATE_CHANGED');
    assertPayment(await outbox.get(reference), { state: 'unresolved' });
    await stage.loseLease(reference);
    await outbox.resolve(reference, 'not-created', seen);
    assertPayment(await outbox.get(reference), { state: 'rejected' });
  });
}

/** Payments that need a person are listed. */
export function testLists(it: It): void {
  it('lists unresolved payments, the oldest first, up to the limit', async (stage) => {
    const outbox = await stage.open();
    const mine: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      mine.push((await stage.createUnresolved(outbox)).reference);
    }
    const all = await collect(outbox.unresolved());
    const references = referencesOf(all);
    expect(references.filter((reference) => mine.includes(reference)).sort()).toStrictEqual(
      [...mine].sort(),
    );
    const times = all.map(({ sentAt }) => Number(sentAt));
    expect(times).toStrictEqual([...times].sort((one, other) => one - other));
    for (const { state } of all) expect(state).toBe('unresolved');
    const first = await collect(outbox.unresolved({ limit: 3 }));
    expect(referencesOf(first)).toStrictEqual(references.slice(0, 3));
    const old = await collect(outbox.unresolved({ olderThanMs: 3_600_000 }));
    expect(old).toStrictEqual([]);
  });
  it('lists more than a page of unresolved payments', async (stage) => {
    const outbox = await stage.open();
    const mine = new Set<string>();
    const createOne = async () => mine.add((await stage.createUnresolved(outbox)).reference);
    for (let round = 0; round < 13; round += 1) {
      await Promise.all(Array.from({ length: 10 }, createOne));
    }
    const listed = await collect(outbox.unresolved());
    const found = listed.filter((payment) => mine.has(payment.merchantPaymentReference));
    expect(found.length).toBe(mine.size);
    expect(new Set(referencesOf(listed)).size).toBe(listed.length);
  });
  it('lists more than a page of second payments, each once', async (stage) => {
    const { input, reference, outbox } = await stage.scene();
    await outbox.create(input);
    const seconds = Array.from({ length: 130 }, () => randomUUID());
    for (const referenceNumber of seconds) {
      await outbox.settle(recordOf(reference, { referenceNumber, status: 'paid' }), own);
    }
    const listed = await collect(outbox.secondPayments());
    const found = listed.filter((one) => one.merchantPaymentReference === reference);
    expect(found.map((one) => one.referenceNumber).sort()).toStrictEqual(seconds.sort());
    expect((await collect(outbox.secondPayments({ limit: 2 }))).length).toBe(2);
  });
}

/** Old completed payments are deleted. */
export function testPruning(it: It): void {
  it('deletes old created or rejected payments, and no open ones', async (stage) => {
    const outbox = await stage.open();
    const [created, rejected, recorded] = [createInput(), createInput(), createInput()];
    await outbox.create(created);
    stage.service.answer(rejected.merchantPaymentReference, 422);
    await rejectsWith(outbox.create(rejected), 'API_ERROR');
    await stage.record(outbox, recorded);
    const { reference: unresolved } = await stage.createUnresolved(outbox);
    const second = { referenceNumber: randomUUID(), status: 'paid' };
    await outbox.settle(recordOf(created.merchantPaymentReference, second), own);

    expect(await outbox.prune(new Date(0))).toBe(0);
    assertPayment(await outbox.get(created.merchantPaymentReference), { state: 'created' });
    const pruned = await outbox.prune(new Date(Date.now() + 86_400_000));
    expect(pruned).toBeGreaterThanOrEqual(2);
    expect(await outbox.get(created.merchantPaymentReference)).toBeUndefined();
    expect(await outbox.get(rejected.merchantPaymentReference)).toBeUndefined();
    assertPayment(await outbox.get(recorded.merchantPaymentReference), { state: 'recorded' });
    assertPayment(await outbox.get(unresolved), { state: 'unresolved' });
    const seconds = await collect(outbox.secondPayments());
    expect(seconds).toStrictEqual([]);
  });
}

/** A reference may be any text. */
export function testNames(it: It): void {
  it('distinguishes payments whatever characters their references contain', async (stage) => {
    const outbox = await stage.open();
    const references = oddNames(randomUUID()).filter((reference) => reference.isWellFormed());
    for (const [index, reference] of references.entries()) {
      const input = createInput({ merchantPaymentReference: reference, amount: index });
      assertPayment(await outbox.create(input), { state: 'created', replayed: false });
    }
    for (const [index, reference] of references.entries()) {
      const payment = await outbox.get(reference);
      expect(payment?.merchantPaymentReference).toBe(reference);
      expect(payment?.input.amount).toBe(index);
    }
  });
  it('keeps a request unchanged', async (stage) => {
    const outbox = await stage.open();
    const extraBody = {
      text: `it's "\\" \u0000 \u2028 ? $1 :x %s {} é \u{1f4b8}`,
      number: 0.1,
      none: null,
      list: [true, { z: 1, a: [] }],
    };
    const input = createInput({ amount: 10.07 });
    stage.service.answer(input.merchantPaymentReference, 'refused');
    await outbox.create(input, { extraBody }).catch(() => undefined);
    await outbox.send(input.merchantPaymentReference);
    const [first, second] = stage.service.requestsFor(input.merchantPaymentReference);
    expect(first).toStrictEqual({ ...input, ...extraBody });
    expect(second).toStrictEqual(first);
  });
}
