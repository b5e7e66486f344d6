import { expect } from 'vitest';
import type { CallbackStage, It } from './callback-stage.js';
import { createPayment, createTwoPayments, instant, seconds } from './changes.js';

// Compared as text without leading zeros, most of these would sort after their successor.
const TIMES_IN_ORDER: readonly string[] = [
  at('2001-09-09T01:46:39.999Z', 999),
  at('2001-09-09T01:46:40.000Z', 0), // 1e12 ms after 1970, one digit more
  at('2026-03-01T09:59:59.009Z', 9),
  at('2026-03-01T09:59:59.009Z', 10),
  at('2026-03-01T09:59:59.009Z', 99),
  at('2026-03-01T09:59:59.009Z', 500),
  at('2026-03-01T09:59:59.010Z', 9),
  at('2026-03-01T09:59:59.099Z', 99),
  at('2026-03-01T09:59:59.100Z', 0),
  at('2026-03-01T09:59:59.999Z', 999),
  at('2026-03-01T10:00:00.000Z', 1),
];

function at(time: string, microseconds: number): string {
  return instant(Date.parse(time), microseconds);
}

function neighbours<Item>(items: readonly Item[]): [Item, Item][] {
  return items.slice(1).map((item, index) => [items[index] as Item, item]);
}

/** A change older than the last one processed of its payment is stale. */
export function testOrder(it: It<CallbackStage>): void {
  it('answers stale to a change older than the last one processed', async (stage) => {
    const { change, one, other } = await stage.scene();
    await stage.deliver(one, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(one, change({ updatedAt: seconds(59) })).answers('stale');
    await stage.deliver(other, change()).answers('stale');
    await stage.deliver(other, change({ updatedAt: seconds(61) })).answers('processed');
  });
  it('answers stale to a stale change that is delivered again', async (stage) => {
    const { change, one: store } = await stage.scene();
    const stale = change();
    await stage.deliver(store, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(store, stale).answers('stale');
    await stage.deliver(store, stale).answers('stale');
    await stage.deliver(await stage.open(), stale).answers('stale');
  });
  it('runs a stale change with processStale, once', async (stage) => {
    const { change, one: store } = await stage.scene();
    const stale = change({ updatedAt: seconds(59), processStale: true });
    await stage.deliver(store, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(store, stale).answers('processed');
    await stage.deliver(store, stale).answers('duplicate');
  });
  it('keeps the watermark of the newest change after an older one was run with processStale', async (stage) => {
    const { change, one: store } = await stage.scene();
    const older = change({ processStale: true });
    await stage.deliver(store, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(store, older).answers('processed');
    await stage.deliver(store, change({ updatedAt: seconds(30) })).answers('stale');
  });
  it('answers duplicate to a processed change after a newer one, with processStale too', async (stage) => {
    const { change, one: store } = await stage.scene();
    const older = change();
    await stage.deliver(store, older).answers('processed');
    await stage.deliver(store, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(store, older).answers('duplicate');
    await stage.deliver(store, { ...older, processStale: true }).answers('duplicate');
  });
  it('runs another change with the same time', async (stage) => {
    const { change, one: store } = await stage.scene();
    for (let round = 0; round < 3; round += 1) {
      await stage.deliver(store, change()).answers('processed');
    }
  });
  it('distinguishes changes within one millisecond by their microseconds', async (stage) => {
    const { change, one: store } = await stage.scene();
    await stage.deliver(store, change({ updatedAt: seconds(0, 500) })).answers('processed');
    await stage.deliver(store, change({ updatedAt: seconds(0, 499) })).answers('stale');
    await stage.deliver(store, change()).answers('stale');
    await stage.deliver(store, change({ updatedAt: seconds(0, 500) })).answers('processed');
    await stage.deliver(store, change({ updatedAt: seconds(0, 501) })).answers('processed');
    await stage.deliver(store, change({ updatedAt: seconds(0, 500) })).answers('stale');
  });
  it('runs a change of the next millisecond with fewer microseconds', async (stage) => {
    const { change, one: store } = await stage.scene();
    const next = instant(Date.parse(seconds(0)) + 1);
    await stage.deliver(store, change({ updatedAt: seconds(0, 501) })).answers('processed');
    await stage.deliver(store, change({ updatedAt: next })).answers('processed');
    await stage.deliver(store, change({ updatedAt: seconds(0, 999) })).answers('stale');
  });
  it('compares times as numbers, however many digits their parts have', async (stage) => {
    const store = await stage.open();
    for (const [older, newer] of neighbours(TIMES_IN_ORDER)) {
      const rising = createPayment();
      await stage.deliver(store, rising({ updatedAt: older })).answers('processed');
      await stage.deliver(store, rising({ updatedAt: newer })).answers('processed');
      const falling = createPayment();
      await stage.deliver(store, falling({ updatedAt: newer })).answers('processed');
      await stage.deliver(store, falling({ updatedAt: older })).answers('stale');
    }
  });
  it('does not call a change stale because of another payment of its order', async (stage) => {
    const store = await stage.open();
    const [payment, other] = createTwoPayments();
    await stage.deliver(store, payment({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(store, other()).runsWith({ stale: false });
    await stage.deliver(store, other({ updatedAt: seconds(-1) })).answers('stale');
    await stage.deliver(store, payment({ updatedAt: seconds(59) })).answers('stale');
  });
  it('orders times with other offsets by the instant', async (stage) => {
    const { change, one: store } = await stage.scene();
    await stage
      .deliver(store, change({ updatedAt: '2026-03-01T12:00:00+00:00' }))
      .answers('processed');
    await stage.deliver(store, change({ updatedAt: '2026-03-01T13:59:59+02:00' })).answers('stale');
    await stage
      .deliver(store, change({ updatedAt: '2026-03-01T07:00:01-05:00' }))
      .answers('processed');
  });
  it('runs an older change after a newer one has failed', async (stage) => {
    const { change, one: store } = await stage.scene();
    const newer = change({ updatedAt: seconds(60) });
    await stage.deliverFailing(store, newer).rejects();
    await stage.deliver(store, change()).answers('processed');
  });
  it('does not answer stale because of a newer change that is still being processed', async (stage) => {
    const { change, one, other } = await stage.scene();
    const older = change();
    const newer = await stage.begin(one, change({ updatedAt: seconds(60) }));
    const early = await stage.deliverHeldOff(other, older);
    newer.fail();
    await newer.rejects();
    const answer = await early.answers('processed', 'busy');
    await stage.deliver(one, older).answers(answer === 'busy' ? 'processed' : 'duplicate');
  });
  it('answers stale to an older change that arrived while a newer one was being processed', async (stage) => {
    const { change, one, other } = await stage.scene();
    const older = change();
    const newer = await stage.begin(one, change({ updatedAt: seconds(60) }));
    const early = await stage.deliverHeldOff(other, older);
    newer.complete();
    await newer.answers('processed');
    await early.answers('stale', 'busy');
    await stage.deliver(other, older).answers('stale');
    expect(early.runs).toBe(0);
  });
}

const processStale = true;

/** With `processStale`, an older change also runs, and its work receives `stale: true`. */
export function testStaleChanges(it: It<CallbackStage>): void {
  it('runs a stale change with stale true, on this store and another', async (stage) => {
    const { change, one, other } = await stage.scene();
    await stage.deliver(one, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(one, change({ processStale })).runsWith({ stale: true });
    const older = change({ updatedAt: seconds(59), processStale });
    await stage.deliver(other, older).runsWith({ stale: true });
  });
  it('runs a change with stale false when no newer one was processed', async (stage) => {
    const { change, one, other } = await stage.scene();
    await stage.deliver(one, change()).runsWith({ stale: false });
    await stage.deliver(other, change({ processStale })).runsWith({ stale: false });
    const newest = { updatedAt: seconds(60), processStale };
    await stage.deliverFailing(one, change(newest)).rejects();
    const newer = change({ updatedAt: seconds(30), processStale });
    await stage.deliver(other, newer).runsWith({ stale: false });
    await stage.deliver(one, change({ processStale })).runsWith({ stale: true });
    await stage.deliver(one, change(newest)).runsWith({ stale: false });
  });
  it('answers duplicate to a stale change that was processed, to this store and another', async (stage) => {
    const { change, one, other } = await stage.scene();
    const stale = change({ processStale });
    await stage.deliver(one, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(one, stale).answers('processed');
    for (const store of [one, other]) {
      await stage.deliver(store, { ...stale }).answers('duplicate');
      await stage.deliver(store, { ...stale, processStale: false }).answers('duplicate');
    }
  });
  it('runs a stale change again, with stale true, after its work failed', async (stage) => {
    const { change, one, other } = await stage.scene();
    const stale = change({ processStale });
    await stage.deliver(one, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliverFailing(one, stale).rejects();
    await stage.deliverFailing(other, { ...stale }).rejects();
    await stage.deliver(one, stale).runsWith({ stale: true });
    await stage.deliver(other, stale).answers('duplicate');
  });
  it('runs with stale true an older change that arrived while a newer one was being processed', async (stage) => {
    const { change, one, other } = await stage.scene();
    const older = change({ processStale });
    const newer = await stage.begin(one, change({ updatedAt: seconds(60), processStale }));
    const early = await stage.deliverHeldOff(other, older);
    newer.complete();
    await newer.answers('processed');
    const waited = (await early.answers('processed', 'busy')) === 'processed';
    const run = waited ? early : stage.deliver(other, older);
    await run.runsWith({ stale: true });
  });
}
