import { expect } from 'vitest';
import type { CallbackStage, It } from './callback-stage.js';
import { createTwoPayments, seconds } from './changes.js';

/** Two stores over the data, and two payments of one order that no store has created. */
async function twoPayments(stage: CallbackStage) {
  const [one, other] = createTwoPayments();
  const stores = [await stage.open(), await stage.open()] as const;
  return { one, other, stores };
}

const paid = { status: 'paid' };

/** A change is current if its status is now the order's. */
export function testCurrent(it: It<CallbackStage>): void {
  it('calls a change not current that happened at the instant of its payment’s paid', async (stage) => {
    for (const isFailing of [false, true]) {
      const { one: change, stores } = await twoPayments(stage);
      const [store, another] = stores;
      await stage.deliver(another, change()).runsWith({ current: true });
      if (isFailing) await stage.deliverFailing(store, change(paid)).rejects();
      else await stage.deliver(store, change(paid)).runsWith({ current: true });
      await stage.deliver(another, change()).runsWith({ current: false });
      await stage.deliver(another, change(paid)).runsWith({ current: true });
      const next = change({ updatedAt: seconds(0, 1), status: 'refunded' });
      await stage.deliver(store, next).runsWith({ current: true });
      const beside = change({ updatedAt: seconds(0, 1), status: 'disputed' });
      await stage.deliver(store, beside).runsWith({ current: true });
    }
  });
  it('calls the changes of each payment current while none has paid the order', async (stage) => {
    const { one, other, stores } = await twoPayments(stage);
    const [store, another] = stores;
    await stage.deliver(store, one({ updatedAt: seconds(60) })).runsWith({ current: true });
    await stage.deliver(another, other()).runsWith({ current: true, secondPayment: false });
    const failed = one({ updatedAt: seconds(61), status: 'failed' });
    await stage.deliver(another, failed).runsWith({ current: true, secondPayment: false });
    await stage.deliver(store, other({ ...paid, updatedAt: seconds(1) })).runsWith({
      current: true,
      secondPayment: false,
    });
  });
  it('calls no change of another payment current once one has paid the order', async (stage) => {
    const { one, other, stores } = await twoPayments(stage);
    await stage.deliver(stores[0], one(paid)).runsWith({ current: true });
    for (const store of stores) {
      // Newer than the one that paid.
      const change = other({ updatedAt: seconds(60), status: 'failed' });
      await stage.deliver(store, change).runsWith({ current: false });
    }
    const refunded = one({ updatedAt: seconds(70), status: 'refunded' });
    await stage.deliver(stores[1], refunded).runsWith({ current: true, secondPayment: false });
    // The order stays paid by the first, whatever becomes of that payment.
    await stage.deliver(stores[0], other({ updatedAt: seconds(80) })).runsWith({ current: false });
  });
  it('calls the changes of the second payment current if that has paid the order', async (stage) => {
    const { one, other, stores } = await twoPayments(stage);
    const [store, another] = stores;
    await stage.deliver(store, one()).runsWith({ current: true });
    await stage.deliver(another, other(paid)).runsWith({ current: true });
    await stage
      .deliver(store, one({ updatedAt: seconds(60), status: 'expired' }))
      .runsWith({ current: false });
    await stage
      .deliver(store, other({ updatedAt: seconds(61), status: 'refunded' }))
      .runsWith({ current: true });
  });
  it('lets an older paid pay the order', async (stage) => {
    for (const status of ['refunded', 'authorized']) {
      const { one, other, stores } = await twoPayments(stage);
      const [store, another] = stores;
      await stage.deliver(store, one({ status, updatedAt: seconds(60) })).answers('processed');
      await stage.deliver(another, one(paid)).runsWith({ current: false });
      await stage.deliver(store, other()).runsWith({ current: false });
      await stage.deliver(another, one({ updatedAt: seconds(61) })).runsWith({ current: true });
    }
  });
  it('lets a paid pay the order whose work failed', async (stage) => {
    const { one, other, stores } = await twoPayments(stage);
    const [store, another] = stores;
    const change = one(paid);
    await stage.deliverFailing(store, change).rejects();
    await stage.deliver(another, other()).runsWith({ current: false });
    await stage.deliver(another, change).runsWith({ current: true, secondPayment: false });
  });
  it('decides when the work begins: a change that waited behind the one that paid is not current', async (stage) => {
    const { one, other, stores } = await twoPayments(stage);
    const [store, another] = stores;
    const waiting = other({ updatedAt: seconds(60) });
    const first = await stage.begin(store, one(paid));
    const early = await stage.deliverHeldOff(another, waiting);
    first.complete();
    await first.answers('processed');
    const waited = (await early.answers('processed', 'busy')) === 'processed';
    const run = waited ? early : stage.deliver(another, waiting);
    await run.runsWith({ current: false });
  });
}

/** Two payments of one order, both paid, are a mistake also if the store has created none. */
export function testSecondPaid(it: It<CallbackStage>): void {
  it('calls the second payment that is paid a second payment, and the first not', async (stage) => {
    const { one, other, stores } = await twoPayments(stage);
    const [store, another] = stores;
    const first = one(paid);
    const second = other({ ...paid, updatedAt: seconds(1) });
    await stage.deliver(store, first).runsWith({ secondPayment: false });
    await stage.deliver(another, other()).runsWith({ secondPayment: false, current: false });
    await stage.deliver(another, second).runsWith({ secondPayment: true, current: false });
    await stage
      .deliver(store, one({ ...paid, updatedAt: seconds(2) }))
      .runsWith({ secondPayment: false, current: true });
    await stage.deliver(store, second).answers('duplicate');
  });
  it('calls one of two payments that are paid at the same time the second', async (stage) => {
    const { one, other, stores } = await twoPayments(stage);
    const [store, another] = stores;
    const second = other(paid);
    const first = await stage.begin(store, one(paid));
    const early = await stage.deliverHeldOff(another, second);
    first.complete();
    await first.runsWith({ secondPayment: false, current: true });
    const waited = (await early.answers('processed', 'busy')) === 'processed';
    const run = waited ? early : stage.deliver(another, second);
    await run.runsWith({ secondPayment: true, current: false });
    expect(run.runs).toBe(1);
  });
}
