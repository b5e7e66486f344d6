import { once } from 'node:events';
import { expect } from 'vitest';
import type { CallbackStore, StatusChange } from '../../../src/store/callback-store.js';
import type { CallbackStage, It } from './callback-stage.js';
import { createPayment, createTwoPayments, seconds } from './changes.js';
import type { Delivery } from './delivery.js';

/** One change of an order at a time, many orders at once. */
export function testOverlap(it: It<CallbackStage>): void {
  for (const what of ['one payment', 'two payments of one order']) {
    it(`never processes two changes of ${what} at the same time`, async (stage) => {
      const [one, other] = [await stage.open(), await stage.open()];
      const [payment, second] = createTwoPayments();
      const next = (what === 'one payment' ? payment : second)({ updatedAt: seconds(60) });
      const first = await stage.begin(one, payment());
      const early = [stage.deliver(one, next), stage.deliver(other, { ...next })];
      await stage.pause();
      for (const delivery of early) delivery.assertHeldOff();
      first.complete();
      await first.answers('processed');
      for (const delivery of early) await delivery.answers('processed', 'duplicate', 'busy');
      const ran = early.some(({ answer }) => answer?.outcome === 'processed');
      await stage.deliver(other, next).answers(ran ? 'duplicate' : 'processed');
    });
  }
  it('runs every change that arrived while another was being processed, and calls the newest current', async (stage) => {
    const { change, one: store } = await stage.scene();
    const [second, third] = [1, 2].map((count) => change({ updatedAt: seconds(count) })) as [
      StatusChange,
      StatusChange,
    ];
    const first = await stage.begin(store, change());
    const early: Delivery[] = [];
    for (const event of [second, third]) {
      // The store must receive this delivery before the next one, even if it has to open a connection first.
      early.push(await stage.deliverHeldOff(await stage.open(), event));
      await stage.pause();
      await stage.pause();
    }
    first.complete();
    await first.answers('processed');
    for (const delivery of early) {
      await delivery.answers('processed', 'busy');
    }
    // A store may let them run in any order.
    if (early[1]?.answer?.outcome === 'processed') {
      await early[1].runsWith({ current: true });
    }
    for (const [index, event] of [second, third].entries()) {
      const ran = early[index]?.answer?.outcome === 'processed';
      await stage.deliver(store, event).answers(ran ? 'duplicate' : 'processed');
    }
  });
}

/** For a store whose claims expire. */
export function testLease(it: It<CallbackStage>): void {
  it('keeps a change while its work takes three leases', async (stage) => {
    const { event, one, other } = await stage.sceneWithShortLease();
    const holder = await stage.begin(one, event);
    for (let lease = 1; lease <= 3; lease += 1) {
      await stage.letLeasePass();
      await stage.deliverHeldOff(other, event);
    }
    holder.complete();
    await holder.answers('processed');
    await stage.deliver(other, event).answers('duplicate');
  });
}

/** For a store that waits no longer than `waitMs`. */
export function testWait(it: It<CallbackStage>): void {
  it('answers busy to a delivery that has waited for waitMs', async (stage) => {
    const change = createPayment();
    const event = change();
    const [one, other] = [await stage.open(), await stage.open()];
    const holder = await stage.begin(one, event);
    const others = [
      stage.deliver(one, { ...event }),
      stage.deliver(other, { ...event }),
      stage.deliver(other, change({ updatedAt: seconds(60) })),
    ];
    for (const delivery of others) await delivery.answers('busy');
    // If one of them had been acknowledged, the change would be lost now.
    holder.fail();
    await holder.rejects();
    await stage.deliver(other, event).answers('processed');
  });
}

/** For a store with several connections. */
export function testConcurrency(it: It<CallbackStage>): void {
  it('processes a change while one of another order is being processed', async (stage) => {
    const [one, other] = [await stage.open(), await stage.open()];
    const first = await stage.begin(one, createPayment()());
    await stage.deliver(one, createPayment()()).answers('processed');
    await stage.deliver(other, createPayment()()).answers('processed');
    first.complete();
    await first.answers('processed');
  });
}

/** Creates a holder that has lost its change, as if its process had died, and two stores. */
async function loseHolder(stage: CallbackStage) {
  const { event, one, other } = await stage.scene();
  const late = await stage.begin(one, event);
  await stage.loseClaim(event);
  return { event, one, other, late };
}

// Within one process, a store may admit no other delivery until the late holder's work has ended.
async function holderAfter(successor: Delivery, begin: () => Promise<Delivery>): Promise<Delivery> {
  try {
    await successor.begun();
    return successor;
  } catch (error) {
    if (successor.answer?.outcome !== 'busy') throw error;
    return begin();
  }
}

interface Holding {
  readonly event: StatusChange;
  readonly end: 'complete' | 'fail';
  readonly holder: Delivery;
  readonly store: CallbackStore<unknown>;
}

/** The holder ends otherwise than the one before it, and that alone decides. */
async function endOther(stage: CallbackStage, { event, end, holder, store }: Holding) {
  const early = await stage.deliverHeldOff(store, event);
  if (end === 'fail') {
    holder.complete();
    await holder.answers('processed');
    await early.answers('duplicate', 'busy');
    await stage.deliver(store, event).answers('duplicate');
  } else {
    holder.fail();
    await holder.rejects();
    const answer = await early.answers('processed', 'busy');
    await stage.deliver(store, event).answers(answer === 'busy' ? 'processed' : 'duplicate');
  }
}

/** A holder that dies, or that the store wrongly treats as dead. */
export function testCrashes(it: It<CallbackStage>): void {
  it('processes a change on another store after its holder died', async (stage) => {
    const { event, other } = await loseHolder(stage);
    await stage.deliver(other, { ...event }).answers('processed');
    await stage.deliver(other, event).answers('duplicate');
  });
  it('rejects for a holder that completes after another holder has processed the change', async (stage) => {
    const { event, one, other, late } = await loseHolder(stage);
    await stage.deliver(other, { ...event }).answers('processed');
    late.complete();
    await late.rejects();
    await stage.deliver(one, event).answers('duplicate');
  });
  for (const end of ['complete', 'fail'] as const) {
    it(`leaves the change to its next holder when one that has lost it does ${end}`, async (stage) => {
      const { event, one, other, late } = await loseHolder(stage);
      const successor = await stage.begin(other, { ...event });
      late[end]();
      await late.rejects();
      await endOther(stage, { event, end, holder: successor, store: one });
    });
    it(`leaves the change to its own process when a holder that has lost it does ${end}`, async (stage) => {
      const { event, one, other, late } = await loseHolder(stage);
      const successor = stage.hold(one, { ...event });
      await stage.pause();
      late[end]();
      await late.rejects();
      const holder = await holderAfter(successor, () => stage.begin(one, event));
      await endOther(stage, { event, end, holder, store: other });
    });
  }
  it('keeps the watermark of the newest change when the holder of an older one completes late', async (stage) => {
    const { change, one, other } = await stage.scene();
    const older = change();
    const late = await stage.begin(one, older);
    await stage.loseClaim(older);
    await stage.deliver(other, change({ updatedAt: seconds(60) })).answers('processed');
    late.complete();
    await late.rejects();
    await stage.deliver(one, change({ updatedAt: seconds(30) })).runsWith({ current: false });
    await stage.deliver(other, change({ updatedAt: seconds(61) })).runsWith({ current: true });
  });
}

/** A store that hears of a lost claim tells the work. */
export function testSignal(it: It<CallbackStage>): void {
  it('aborts the signal of a holder that has lost its change', async (stage) => {
    const { event, one, other } = await stage.sceneWithShortLease();
    const late = stage.hold(one, event);
    const { signal } = await late.begun();
    const aborted = once(signal, 'abort');
    await stage.loseClaim(event);
    await stage.deliver(other, { ...event }).answers('processed');
    await aborted;
    expect(signal.aborted).toBe(true);
    late.complete();
    await late.rejects();
  });
}
