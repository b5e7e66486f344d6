import type { CallbackStage, It } from './callback-stage.js';
import { createPayment, instant, seconds } from './changes.js';

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

/** A change older than the last one processed of its payment runs too, and is not current. */
export function testOrder(it: It<CallbackStage>): void {
  it('runs a change older than the last one processed as not current, on this store and another', async (stage) => {
    const { change, one, other } = await stage.scene();
    await stage.deliver(one, change({ updatedAt: seconds(60) })).runsWith({ current: true });
    await stage.deliver(one, change({ updatedAt: seconds(59) })).runsWith({ current: false });
    await stage.deliver(other, change()).runsWith({ current: false });
    await stage.deliver(one, change({ updatedAt: seconds(30) })).runsWith({ current: false });
    await stage.deliver(other, change({ updatedAt: seconds(61) })).runsWith({ current: true });
  });
  it('answers duplicate to an older change that was processed, before the newer one or after it', async (stage) => {
    const { change, one, other } = await stage.scene();
    const [early, late] = [change(), change()];
    await stage.deliver(one, early).answers('processed');
    await stage.deliver(one, change({ updatedAt: seconds(60) })).answers('processed');
    await stage.deliver(one, late).answers('processed');
    for (const older of [early, late]) {
      for (const store of [one, other])
        await stage.deliver(store, { ...older }).answers('duplicate');
    }
  });
  it('runs another change with the same time as current', async (stage) => {
    const { change, one: store } = await stage.scene();
    for (let round = 0; round < 3; round += 1) {
      await stage.deliver(store, change()).runsWith({ current: true });
    }
  });
  it('compares times as numbers, however many digits their parts have', async (stage) => {
    const store = await stage.open();
    for (const [older, newer] of neighbours(TIMES_IN_ORDER)) {
      const rising = createPayment();
      await stage.deliver(store, rising({ updatedAt: older })).answers('processed');
      await stage.deliver(store, rising({ updatedAt: newer })).runsWith({ current: true });
      const falling = createPayment();
      await stage.deliver(store, falling({ updatedAt: newer })).answers('processed');
      await stage.deliver(store, falling({ updatedAt: older })).runsWith({ current: false });
    }
  });
  it('runs an older change as current after a newer one has failed', async (stage) => {
    const { change, one, other } = await stage.scene();
    await stage.deliver(one, change()).answers('processed');
    const newest = change({ updatedAt: seconds(60) });
    await stage.deliverFailing(one, newest).rejects();
    await stage.deliver(other, change({ updatedAt: seconds(30) })).runsWith({ current: true });
    await stage.deliver(one, change()).runsWith({ current: false });
    await stage.deliver(one, newest).runsWith({ current: true });
  });
  for (const isCurrent of [true, false]) {
    const how = isCurrent ? 'fails' : 'is processed';
    it(`decides about an older change that arrived before a newer one ${how} after that`, async (stage) => {
      const { change, one, other } = await stage.scene();
      const older = change();
      const newer = await stage.begin(one, change({ updatedAt: seconds(60) }));
      const early = await stage.deliverHeldOff(other, older);
      if (isCurrent) newer.fail();
      else newer.complete();
      await newer.settled;
      const waited = (await early.answers('processed', 'busy')) === 'processed';
      const run = waited ? early : stage.deliver(one, older);
      await run.runsWith({ current: isCurrent });
    });
  }
}
