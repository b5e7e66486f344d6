import { randomUUID } from 'node:crypto';
import { assert, expect } from 'vitest';
import type { StoreError } from '../../../src/errors.js';
import type { It } from './callback-stage.js';
import { createPayment, recordOf } from './changes.js';
import { assertPayment, createInput, recordIn, rejectsWith, type Stage } from './stage.js';

const LATER = new Date(Date.now() + 86_400_000);
const second = { kinds: ['second-payment'] } as const;

/** An order whose first payment was declined. */
async function createDeclined(stage: Stage) {
  const store = await stage.openShop();
  const input = createInput();
  const order = input.merchantPaymentReference;
  await store.create(input);
  await stage.change(store, order, 'declined', { updatedAt: at(1) });
  const further = `${order}-2`;
  return { store, input, order, further };
}

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 13, 0, second)).toISOString();

async function refusedWith(call: Promise<unknown>, reason: string): Promise<StoreError> {
  const error = (await rejectsWith(call, 'NOT_REPLACEABLE')) as StoreError;
  expect(error.reason).toBe(reason);
  return error;
}

/** The same call tries again after a decline. */
export function testDeclined(it: It<Stage>): void {
  it('tries again after a decline, until the order is paid', async (stage) => {
    const { store, input, order, further } = await createDeclined(stage);
    const another = await store.create(input);
    assertPayment(another, { state: 'created', replayed: false, status: 'pending' });
    expect(another).toMatchObject({ merchantPaymentReference: further, order });
    for (const again of [await store.create(input), await (await stage.openShop()).create(input)]) {
      expect(again).toMatchObject({ merchantPaymentReference: further, replayed: true });
    }
    expect(await store.get(order)).toMatchObject({ order, replacedBy: further });
    expect(await store.getOrder(order)).toMatchObject({ merchantPaymentReference: further });
    const paid = await stage.change(store, further, 'paid');
    await paid.runsWith({ current: true, secondPayment: false });
    const { order: told, input: asked } = paid.context ?? {};
    expect(told).toBe(order);
    expect(asked).toStrictEqual({ ...input, merchantPaymentReference: further });
    for (const shown of [await store.create(input), await store.getOrder(order)]) {
      expect(shown).toMatchObject({ merchantPaymentReference: further, replayed: true });
      assertPayment(shown, { status: 'paid' });
    }
    expect(stage.service.requestsFor(order)).toHaveLength(1);
    expect(stage.service.requestsFor(further)).toStrictEqual([
      { ...input, merchantPaymentReference: further },
    ]);
    expect(await stage.attentionTo(further)).toStrictEqual([]);
    const late = await stage.change(store, order, 'paid', { updatedAt: at(2) });
    await late.runsWith({ current: false, secondPayment: true });
    expect(await stage.attentionTo(order, second)).toHaveLength(1);
  });
  it('makes one attempt of two clicks after a decline', async (stage) => {
    const { store, input, order, further } = await createDeclined(stage);
    const other = await stage.openShop();
    const clicks = [store, other, store, other].map((one) => stage.start(one.create(input)));
    for (const one of await Promise.all(clicks)) {
      expect(one).toMatchObject({ merchantPaymentReference: further, state: 'created' });
    }
    expect(stage.service.requestsFor(further)).toHaveLength(1);
    expect(stage.service.requestsFor(`${order}-3`)).toStrictEqual([]);
  });
  it('lets an older attempt still pay the order, and tells of the second payment', async (stage) => {
    const { store, input, order, further } = await createDeclined(stage);
    await store.create(input);
    const late = await stage.change(store, order, 'paid', { updatedAt: at(2) });
    await late.runsWith({ current: true, secondPayment: false });
    for (const shown of [await store.create(input), await store.send(order)]) {
      expect(shown).toMatchObject({ merchantPaymentReference: order, replayed: true });
      assertPayment(shown, { status: 'paid' });
    }
    expect(await store.getOrder(order)).toMatchObject({ merchantPaymentReference: order });
    // Of an attempt that does not count any more.
    const declined = await stage.change(store, further, 'declined', { updatedAt: at(3) });
    await declined.runsWith({ current: false, secondPayment: false });
    const again = await stage.change(store, further, 'paid', { updatedAt: at(4) });
    await again.runsWith({ current: false, secondPayment: true });
    expect(await stage.attentionTo(further, second)).toHaveLength(1);
    expect(await store.getOrder(order)).toMatchObject({ merchantPaymentReference: order });
    const refunded = await stage.change(store, order, 'refunded', { updatedAt: at(5) });
    await refunded.runsWith({ current: true, secondPayment: false });
  });
  it('takes the status of the latest attempt until one has paid the order', async (stage) => {
    const { store, input, order, further } = await createDeclined(stage);
    await store.create(input);
    const old = await stage.change(store, order, 'expired', { updatedAt: at(2) });
    await old.runsWith({ current: false, secondPayment: false });
    const latest = await stage.change(store, further, 'authorized');
    await latest.runsWith({ current: true, secondPayment: false });
  });
  it('takes another cart once the payment is declined, and none while it is open', async (stage) => {
    const { store, input, further } = await createDeclined(stage);
    const larger = { ...input, amount: input.amount + 1 };
    expect(await store.create(larger)).toMatchObject({ merchantPaymentReference: further });
    await rejectsWith(store.create(input), 'REFERENCE_CONFLICT');
    expect(stage.service.requestsFor(further)).toHaveLength(1);
    await stage.change(store, further, 'paid');
    assertPayment(await store.create(input), { status: 'paid', replayed: true });
  });
  it('records a further attempt too, which a call for the order sends', async (stage) => {
    const { store, input, order, further } = await createDeclined(stage);
    await stage.record(store, input);
    await stage.record(await stage.openShop(), input);
    expect(await store.getOrder(order)).toMatchObject({
      merchantPaymentReference: further,
      state: 'recorded',
    });
    for (const replayed of [false, true]) {
      const sent = await store.send(order);
      expect(sent).toMatchObject({ merchantPaymentReference: further, replayed });
    }
    await stage.change(store, further, 'paid');
    await stage.record(store, input);
    assertPayment(await store.send(order), { status: 'paid', replayed: true });
    expect(stage.service.requestsFor(further)).toHaveLength(1);
    expect(stage.service.requestsFor(order)).toHaveLength(1);
  });
  it('sends an attempt that was not sent by the next click, or by recover', async (stage) => {
    for (const how of ['create', 'recover'] as const) {
      const { store, input, further } = await createDeclined(stage);
      stage.service.answer(further, 'refused');
      assertPayment(await store.create(input), { state: 'recorded', replayed: false });
      if (how === 'create') await store.create(input);
      else await store.recover();
      assertPayment(await store.get(further), { state: 'created', attempts: 2 });
    }
  });
  it('does not try again while the latest attempt may still be created', async (stage) => {
    const { store, input, order, further } = await createDeclined(stage);
    stage.service.answer(further, 'answer-lost');
    for (const replayed of [false, true]) {
      assertPayment(await store.create(input), { state: 'unresolved', replayed });
    }
    expect(stage.service.requestsFor(further)).toHaveLength(1);
    await stage.change(store, further, 'declined');
    expect(await store.create(input)).toMatchObject({ merchantPaymentReference: `${order}-3` });
  });
  it('names an attempt otherwise if its name is that of another order', async (stage) => {
    const { store, input, order, further } = await createDeclined(stage);
    const other = await store.create(createInput({ merchantPaymentReference: further }));
    expect(other).toMatchObject({ order: further, replayed: false });
    expect(await store.create(input)).toMatchObject({ merchantPaymentReference: `${order}-3` });
    expect(await store.get(further)).not.toHaveProperty('replacedBy');
  });
  it('tries again after a payment that another program created', async (stage) => {
    const store = await stage.openShop();
    const input = createInput();
    const order = input.merchantPaymentReference;
    const record = recordOf(order, { referenceNumber: randomUUID(), status: 'declined' });
    await stage.callback(store, record);
    const further = await store.create(input);
    expect(further).toMatchObject({ merchantPaymentReference: `${order}-2`, order });
    const late = await stage.pay(store, order, record.referenceNumber);
    expect(recordIn(await store.getOrder(order))).toStrictEqual(late);
    const paid = await stage.change(store, `${order}-2`, 'paid');
    await paid.runsWith({ current: false, secondPayment: true });
  });
  it('does not try again without the option, nor under the reference of an attempt', async (stage) => {
    const { store, input, further } = await createDeclined(stage);
    const plain = await stage.openPayments();
    assertPayment(await plain.create(input), { status: 'declined', replayed: true });
    await store.create(input);
    for (const one of [store, plain]) {
      const attempt = { ...input, merchantPaymentReference: further };
      await rejectsWith(one.create(attempt), 'REFERENCE_CONFLICT');
      await rejectsWith(stage.record(one, attempt), 'REFERENCE_CONFLICT');
      expect(await one.getOrder(further)).toBeUndefined();
      expect(await one.send(further)).toMatchObject({ replayed: true });
    }
    await stage.change(store, further, 'declined');
    await store.create(input);
    assertPayment(await store.send(further), { status: 'declined', replayed: true });
    const attempt = { ...input, merchantPaymentReference: further };
    await rejectsWith(store.create(attempt), 'REFERENCE_CONFLICT');
    expect(stage.service.requestsFor(further)).toHaveLength(1);
  });
}

/** An order and the payment of a further attempt under a reference of the merchant's own. */
async function createOrder(stage: Stage) {
  const { store, input, reference: order } = await stage.payment();
  const further = createInput();
  const { merchantPaymentReference: attempt } = further;
  return { store, input, order, further, attempt, replaces: { replaces: order } };
}

/** A further attempt under a reference of the merchant's own. */
export function testReplaced(it: It<Stage>): void {
  it('replaces an attempt, and is the same attempt when it is called again', async (stage) => {
    const { store, input, order, further, attempt, replaces } = await createOrder(stage);
    await store.create(input);
    const calls = [store, await stage.openPayments()].map((one) =>
      stage.start(one.create(further, replaces)),
    );
    for (const one of [...(await Promise.all(calls)), await store.create(further, replaces)]) {
      expect(one).toMatchObject({ merchantPaymentReference: attempt, order, state: 'created' });
    }
    expect(stage.service.requestsFor(attempt)).toStrictEqual([further]);
    expect(await store.create(input)).toMatchObject({ replayed: true, replacedBy: attempt });
    expect(stage.service.requestsFor(order)).toHaveLength(1);
    expect(await store.getOrder(order)).toMatchObject({ merchantPaymentReference: attempt });
    await rejectsWith(store.create({ ...further, amount: 1 }, replaces), 'REFERENCE_CONFLICT');
  });
  it('never sends an attempt that was replaced before it was sent', async (stage) => {
    const { store, input, order, further, attempt, replaces } = await createOrder(stage);
    await stage.record(store, input);
    await stage.transaction((tx) => store.record(further, { tx, ...replaces }));
    assertPayment(await store.get(order), { state: 'rejected' });
    await stage.record(store, input);
    await store.recover();
    for (const call of [store.send(order), store.create(input)]) {
      assertPayment(await call, { state: 'rejected', replayed: true });
    }
    expect(stage.service.requestsFor(order)).toStrictEqual([]);
    expect(stage.service.requestsFor(attempt)).toStrictEqual([further]);
  });
  it('refuses to replace what is paid, open or replaced, or by what is in use', async (stage) => {
    const { store, input, order, further, attempt, replaces } = await createOrder(stage);
    const held = stage.service.hold(order);
    const sending = stage.start(store.create(input));
    await held.received;
    await refusedWith(store.create(further, replaces), 'open');
    held.answer('answer-lost');
    assertPayment(await sending, { state: 'unresolved' });
    const recording = stage.transaction((tx) => store.record(further, { tx, ...replaces }));
    await refusedWith(recording, 'open');
    await stage.change(store, order, 'expired', { updatedAt: at(1) });
    await refusedWith(store.create(input, replaces), 'in-use');
    await store.create(further, replaces);
    const third = createInput();
    const { replacedBy } = await refusedWith(store.create(third, replaces), 'replaced');
    expect(replacedBy).toBe(attempt);
    await refusedWith(store.create(input, { replaces: attempt }), 'in-use');
    await rejectsWith(store.create(third, { replaces: randomUUID() }), 'UNKNOWN_REFERENCE');
    await stage.change(store, order, 'paid', { updatedAt: at(2) });
    await refusedWith(store.create(third, { replaces: attempt }), 'paid');
    expect(await store.get(third.merchantPaymentReference)).toBeUndefined();
    expect(stage.service.requestsFor(third.merchantPaymentReference)).toStrictEqual([]);
    expect(await store.get(attempt)).not.toHaveProperty('replacedBy');
  });
  it('never sends an attempt whose order another one has paid', async (stage) => {
    const { store, input, order, further, attempt, replaces } = await createOrder(stage);
    await store.create(input);
    await stage.transaction((tx) => store.record(further, { tx, ...replaces }));
    await rejectsWith(store.create(further), 'REFERENCE_CONFLICT');
    await stage.change(store, order, 'paid');
    await store.recover();
    assertPayment(await store.get(attempt), { state: 'rejected', attempts: 0 });
    await refusedWith(store.send(attempt), 'paid');
    await refusedWith(store.create(further, replaces), 'paid');
    expect(stage.service.requestsFor(attempt)).toStrictEqual([]);
    expect(await store.getOrder(order)).toMatchObject({ merchantPaymentReference: order });
  });
  it('does not repeat an attempt whose order another one has paid', async (stage) => {
    const { input, order, further, attempt, replaces } = await createOrder(stage);
    const idempotency = { header: 'idempotency-key' };
    const store = await stage.openPayments(stage.service.createClient({ idempotency }));
    await store.create(input);
    stage.service.answer(attempt, 500);
    assertPayment(await store.create(further, replaces), { state: 'unresolved' });
    await stage.change(store, order, 'paid');
    await stage.loseLease(attempt);
    await store.recover();
    assertPayment(await store.get(attempt), { state: 'unresolved', attempts: 1 });
    expect(stage.service.requestsFor(attempt)).toHaveLength(1);
  });
  it('takes an attempt of the merchant’s own for that of its order', async (stage) => {
    const { input, order, further, attempt, replaces } = await createOrder(stage);
    const store = await stage.openShop();
    await store.create(input);
    await store.create(further, replaces);
    expect(await store.create(input)).toMatchObject({ merchantPaymentReference: attempt });
    await stage.change(store, attempt, 'declined');
    const third = await store.create({ ...input, amount: 7 });
    expect(third).toMatchObject({ merchantPaymentReference: `${order}-3`, order });
    expect(await store.get(attempt)).toMatchObject({ replacedBy: `${order}-3` });
  });
  it('runs the work of one attempt of an order at a time', async (stage) => {
    const { store, input, order, further, attempt, replaces } = await createOrder(stage);
    await store.create(input);
    await store.create(further, replaces);
    const [one, other] = [stage.paymentOf(order), stage.paymentOf(attempt)];
    const working = await stage.begin(store, other({ status: 'paid' }));
    const waiting = await stage.deliverHeldOff(store, one({ status: 'paid' }));
    working.complete();
    await working.runsWith({ current: true, secondPayment: false });
    await waiting.settled;
    const late = stage.deliver(store, one({ status: 'captured' }));
    await late.answers('processed');
    const { current, secondPayment, order: told } = late.context ?? {};
    expect({ current, secondPayment, told }).toMatchObject({ current: false, told: order });
  });
  it('keeps an order for the attempt that has paid it, although its work fails', async (stage) => {
    const { store, input, order, further, attempt, replaces } = await createOrder(stage);
    await store.create(input);
    await store.create(further, replaces);
    const [first, other] = [attempt, order].map((one) => stage.paymentOf(one)({ status: 'paid' }));
    assert(first !== undefined && other !== undefined);
    const failing = await stage.begin(store, first);
    const waiting = await stage.deliverHeldOff(store, other);
    failing.fail();
    await failing.rejects();
    await waiting.settled;
    // On a server it may come between the rollback of the first one and the keeping of its failure.
    const isFirst = waiting.context?.secondPayment !== false;
    const again = { ...other, key: randomUUID() };
    const [paying, second] = isFirst ? [first, again] : [again, first];
    await stage.deliver(store, second).runsWith({ current: false, secondPayment: true });
    await stage.deliver(store, paying).runsWith({ current: true, secondPayment: false });
    const payer = isFirst ? attempt : order;
    expect(await store.getOrder(order)).toMatchObject({ merchantPaymentReference: payer });
  });
  it('keeps the rows of an order together when it prunes', async (stage) => {
    const { store, input, order, further, attempt, replaces } = await createOrder(stage);
    await store.create(input);
    await store.create(further, replaces);
    const broken = createPayment({ merchantPaymentReference: attempt })({ status: 'paid' });
    await stage.deliverFailing(store, broken).rejects();
    await store.prune(LATER);
    expect(await store.get(order)).toBeDefined();
    expect(await store.get(attempt)).toBeDefined();
    for (const item of await stage.attentionTo(attempt)) await store.discard(item);
    await store.prune(LATER);
    expect(await store.get(order)).toBeUndefined();
    expect(await store.get(attempt)).toBeUndefined();
  });
}
