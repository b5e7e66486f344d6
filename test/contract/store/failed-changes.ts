import { randomUUID } from 'node:crypto';
import { assert, expect } from 'vitest';
import { RetryLaterError } from '../../../src/errors.js';
import type { AttentionOptions, FailedChange } from '../../../src/store/attention.js';
import type { StatusChange } from '../../../src/store/callback-store.js';
import { oddNames } from '../odd-names.js';
import type { It } from './callback-stage.js';
import { createPayment, instant, seconds } from './changes.js';
import { collect, rejectsWith, type Stage } from './stage.js';

/** The failed changes that the store lists. */
async function listed(stage: Stage, options?: AttentionOptions): Promise<FailedChange[]> {
  const store = await stage.openManaged();
  const items = await collect(store.attention({ kinds: ['failed-change'], ...options }));
  return items.filter((item) => item.kind === 'failed-change');
}

function failuresOf(stage: Stage, { payment }: StatusChange): Promise<FailedChange[]> {
  return listed(stage, { referenceNumber: payment.referenceNumber });
}

async function discard(stage: Stage, item: FailedChange): Promise<void> {
  await (await stage.openManaged()).discard(item);
}

/** Returns the only failed change of the change's payment. */
async function keptOf(stage: Stage, { key, payment }: StatusChange): Promise<FailedChange> {
  const [change, ...more] = await failuresOf(stage, { key, payment });
  assert(change !== undefined);
  expect(more.length).toBe(0);
  const { merchantPaymentReference, referenceNumber } = payment;
  expect(change).toMatchObject({ key, merchantPaymentReference, referenceNumber });
  return change;
}

async function assertForgotten(stage: Stage, change: StatusChange): Promise<void> {
  expect(await failuresOf(stage, change)).toStrictEqual([]);
}

/** Returns after how many failures the last one has parked the change; undefined if it has not. */
async function failTimes(
  stage: Stage,
  event: StatusChange,
  times: number,
): Promise<number | undefined> {
  let parkedAfter: number | undefined;
  for (let time = 0; time < times; time += 1) {
    const delivery = stage.deliverFailing(await stage.open(), event);
    await delivery.rejects();
    parkedAfter = delivery.answer?.parkedAfter;
  }
  return parkedAfter;
}

async function assertRefused(stage: Stage, event: StatusChange): Promise<void> {
  await stage.deliver(await stage.open(), event).answers('parked');
}

/** Changes whose work failed are kept. */
export function testKeptFailures(it: It<Stage>): void {
  it('lists a change whose work failed, with how often and why', async (stage) => {
    const event = createPayment()({ updatedAt: seconds(7, 999) });
    await stage.deliverFailing(await stage.open(), event, new Error('the first')).rejects();
    const error = Object.assign(new RangeError('the last'), { code: 'E_LAST' });
    await stage.deliverFailing(await stage.open(), event, error).rejects();

    const change = await keptOf(stage, event);
    expect(change.attempts).toBe(2);
    expect(change.error).toStrictEqual({ name: 'RangeError', code: 'E_LAST', message: 'the last' });
    expect(change.parked).toBe(false);
    const { since, lastFailedAt } = change;
    expect(since <= lastFailedAt).toBe(true);
    expect(change).not.toHaveProperty('rawBody');
  });
  it('lists when a failed change happened, to the millisecond below', async (stage) => {
    for (const ms of [-1, 0, 1_769_860_800_123]) {
      const event = createPayment()({ updatedAt: instant(ms, 999) });
      await failTimes(stage, event, 1);
      expect((await keptOf(stage, event)).occurredAt).toStrictEqual(new Date(ms));
    }
  });
  it('forgets the failures of a change that is processed', async (stage) => {
    const event = createPayment()();
    await failTimes(stage, event, 2);
    await stage.deliver(await stage.open(), event).answers('processed');
    await assertForgotten(stage, event);
    await stage.deliver(await stage.open(), event).answers('duplicate');
  });
  it('does not count a RetryLaterError as a failure, nor an error that it caused', async (stage) => {
    const event = createPayment()();
    const retryLater = new RetryLaterError();
    for (const error of [retryLater, new Error('wrapped by an ORM', { cause: retryLater })]) {
      await stage.deliverFailing(await stage.open(), event, error).rejects();
      await assertForgotten(stage, event);
    }
  });
  it('discards the failures of a change, and runs it when it is delivered again', async (stage) => {
    const change = createPayment();
    const [event, other] = [change({ failures: { parkAfter: 1 } }), change()];
    await failTimes(stage, event, 1);
    await failTimes(stage, other, 1);
    const item = (await failuresOf(stage, event)).find(({ key }) => key === event.key);
    assert(item !== undefined);
    await discard(stage, item);
    // Twice: the person may have clicked twice.
    await discard(stage, item);
    const left = (await failuresOf(stage, event)).map(({ key }) => key);
    expect(left).toStrictEqual([other.key]);
    await stage.deliver(await stage.open(), event).answers('processed');
  });
  it('does not discard a change whose work has failed again since it was listed', async (stage) => {
    const event = createPayment()();
    await failTimes(stage, event, 1);
    const seen = await keptOf(stage, event);
    await failTimes(stage, event, 1);
    await rejectsWith(discard(stage, seen), 'STATE_CHANGED');
    const now = await keptOf(stage, event);
    expect(now.attempts).toBe(2);
    await discard(stage, now);
    await assertForgotten(stage, event);
  });
  it('parks a change that has failed parkAfter times, and does not run it again', async (stage) => {
    const event = createPayment()({ failures: { parkAfter: 2 } });
    expect(await failTimes(stage, event, 1)).toBeUndefined();
    expect((await keptOf(stage, event)).parked).toBe(false);
    expect(await failTimes(stage, event, 1)).toBe(2);
    for (let time = 0; time < 2; time += 1) await assertRefused(stage, event);
    const change = await keptOf(stage, event);
    expect(change.parked).toBe(true);
    expect(change.attempts).toBe(2);
  });
  it('runs a parked change that is replayed, and forgets its failures when it is processed', async (stage) => {
    const failures = { parkAfter: 1 };
    const event = createPayment()({ failures });
    expect(await failTimes(stage, event, 1)).toBe(1);
    const replay = { ...event, failures: { ...failures, runParked: true } };
    expect(await failTimes(stage, replay, 1)).toBeUndefined();
    expect(await keptOf(stage, event)).toMatchObject({ attempts: 2, parked: true });
    await stage.deliver(await stage.open(), replay).answers('processed');
    await assertForgotten(stage, event);
    await stage.deliver(await stage.open(), event).answers('duplicate');
  });
  it('runs the other changes of a payment that has a parked change', async (stage) => {
    const change = createPayment();
    const failures = { parkAfter: 1 };
    await failTimes(stage, change({ failures }), 1);
    for (const second of [5, -5]) {
      const other = change({ updatedAt: seconds(second), failures });
      await stage.deliver(await stage.open(), other).answers('processed');
    }
  });
  it('counts each failure of concurrent deliveries', async (stage) => {
    const event = createPayment()();
    const stores = [await stage.open(), await stage.open()];
    const deliveries = stores.flatMap((store) =>
      Array.from({ length: 5 }, () => stage.deliverFailing(store, { ...event })),
    );
    await Promise.all(deliveries.map(({ settled }) => settled));
    // The others were busy.
    const failed = deliveries.filter(({ runs }) => runs === 1).length;
    expect((await keptOf(stage, event)).attempts).toBe(failed);
  });
  it('lists failed changes by their first failure, up to the limit', async (stage) => {
    const change = createPayment();
    const events = Array.from({ length: 5 }, () => change());
    for (const event of events) await failTimes(stage, event, 1);
    const [event] = events as [StatusChange];
    const { referenceNumber } = event.payment;
    const limited = await listed(stage, { referenceNumber, limit: 2 });
    const all = await failuresOf(stage, event);
    const keysOf = (items: readonly FailedChange[]) => items.map(({ key }) => key);
    expect(keysOf(limited)).toStrictEqual(keysOf(all).slice(0, 2));
    const times = all.map(({ since }) => Number(since));
    expect(times).toStrictEqual(times.toSorted((one, other) => one - other));
  });
  it('lists the failed changes of one payment of an order alone', async (stage) => {
    const merchantPaymentReference = randomUUID();
    const [event, other] = [1, 2].map(() => createPayment({ merchantPaymentReference })());
    assert(event !== undefined && other !== undefined);
    for (const one of [event, other]) await failTimes(stage, one, 1);
    await keptOf(stage, event);
    await keptOf(stage, other);
  });
  it('lists and discards failed changes whatever characters their names and errors contain', async (stage) => {
    for (const name of oddNames(randomUUID())) {
      const event = createPayment({ merchantPaymentReference: name, referenceNumber: name })({
        key: `${name}-key`,
      });
      const error = new Error(`begins\u0000\u001b[2J\n\u202e${name}${'long '.repeat(1_000)}`);
      await stage.deliverFailing(await stage.open(), event, error).rejects();
      const kept = await keptOf(stage, event);
      const { message } = kept.error;
      expect(message).toMatch(/^begins/);
      expect(message.length).toBeLessThanOrEqual(500);
      expect(message).toMatch(/^\P{Cc}*$/u);
      await discard(stage, kept);
      await assertForgotten(stage, event);
    }
  });
}
