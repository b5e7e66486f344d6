import { randomUUID } from 'node:crypto';
import { assert, expect } from 'vitest';
import { RetryLaterError } from '../../../src/errors.js';
import type { FailedChange, FailurePolicy } from '../../../src/store/failed-changes.js';
import type { InboxEvent } from '../../../src/store/inbox.js';
import { oddNames } from '../odd-names.js';
import { createPayment, type It, type Stage, seconds } from './stage.js';

async function listed(stage: Stage, event: InboxEvent): Promise<FailedChange[]> {
  const { paymentReference } = event;
  const changes: FailedChange[] = [];
  for await (const change of await stage.failedChanges({ paymentReference })) changes.push(change);
  return changes;
}

/** Returns the only failed change of the event's payment. */
async function keptOf(stage: Stage, event: InboxEvent): Promise<FailedChange> {
  const [change, ...more] = await listed(stage, event);
  assert(change !== undefined);
  expect(more.length).toBe(0);
  expect(change.key).toBe(event.key);
  expect(change.paymentReference).toBe(event.paymentReference);
  return change;
}

async function assertForgotten(stage: Stage, event: InboxEvent): Promise<void> {
  expect(await listed(stage, event)).toStrictEqual([]);
}

async function failTimes(stage: Stage, event: InboxEvent, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.deliverFailing(await stage.open(), event).rejects();
  }
}

/** A policy, and a list of the attempts with which its `onParked` was called. */
function watchedPolicy(policy: FailurePolicy): { failures: FailurePolicy; parked: number[] } {
  const parked: number[] = [];
  return { failures: { ...policy, onParked: (attempts) => parked.push(attempts) }, parked };
}

async function assertRefused(stage: Stage, event: InboxEvent, code: string): Promise<void> {
  const delivery = stage.deliver(await stage.open(), event);
  const error = await delivery.rejects();
  expect((error as { code?: unknown }).code).toBe(code);
  expect(delivery.runs).toBe(0);
}

/** For an inbox that keeps the changes whose work failed. */
export function testKeptFailures(it: It): void {
  it('lists a change whose work failed, with how often and why', async (stage) => {
    const event = createPayment()({ occurredAt: seconds(7) });
    await stage.deliverFailing(await stage.open(), event, new Error('the first')).rejects();
    const error = Object.assign(new RangeError('the last'), { code: 'E_LAST' });
    await stage.deliverFailing(await stage.open(), event, error).rejects();

    const change = await keptOf(stage, event);
    expect(change.attempts).toBe(2);
    expect(change.error).toStrictEqual({ name: 'RangeError', code: 'E_LAST', message: 'the last' });
    expect(change.parked).toBe(false);
    expect(change.occurredAt).toStrictEqual(event.occurredAt);
    const { firstFailedAt, lastFailedAt } = change;
    expect(firstFailedAt <= lastFailedAt).toBe(true);
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
    const { failures } = watchedPolicy({ parkAfter: 1 });
    const [event, other] = [change({ failures }), change()];
    await failTimes(stage, event, 1);
    await failTimes(stage, other, 1);
    expect(await stage.discard(event)).toBe(true);
    expect(await stage.discard(event)).toBe(false);
    const left = (await listed(stage, event)).map(({ key }) => key);
    expect(left).toStrictEqual([other.key]);
    await stage.deliver(await stage.open(), event).answers('processed');
  });
  it('parks a change that has failed parkAfter times, and does not run it again', async (stage) => {
    const { failures, parked } = watchedPolicy({ parkAfter: 2 });
    const event = createPayment()({ failures });
    await failTimes(stage, event, 1);
    expect((await keptOf(stage, event)).parked).toBe(false);
    await failTimes(stage, event, 1);
    expect(parked).toStrictEqual([2]);
    for (let time = 0; time < 2; time += 1) await assertRefused(stage, event, 'CHANGE_PARKED');
    const change = await keptOf(stage, event);
    expect(change.parked).toBe(true);
    expect(change.attempts).toBe(2);
    expect(parked).toStrictEqual([2]);
  });
  it('runs a parked change that is replayed, and forgets its failures when it is processed', async (stage) => {
    const { failures, parked } = watchedPolicy({ parkAfter: 1 });
    const event = createPayment()({ failures });
    await failTimes(stage, event, 1);
    const replay = { ...event, failures: { ...failures, runParked: true } };
    await failTimes(stage, replay, 1);
    const { attempts, parked: isParked } = await keptOf(stage, event);
    expect({ attempts, isParked }).toStrictEqual({ attempts: 2, isParked: true });
    expect(parked).toStrictEqual([1]);
    await stage.deliver(await stage.open(), replay).answers('processed');
    await assertForgotten(stage, event);
    await stage.deliver(await stage.open(), event).answers('duplicate');
  });
  it('runs the other changes of a payment that has a parked change', async (stage) => {
    const change = createPayment();
    const failures = { parkAfter: 1 };
    await failTimes(stage, change({ failures }), 1);
    const later = change({ occurredAt: seconds(5), failures });
    await stage.deliver(await stage.open(), later).answers('processed');
  });
  it('parks the later changes of a payment behind a parked one with blockParked, and replays them in order', async (stage) => {
    const change = createPayment();
    const failures = { parkAfter: 1, blockParked: true };
    const at = (second: number) => change({ occurredAt: seconds(second), failures });
    const [earlier, first, second, third] = [at(1), at(2), at(3), at(4)];
    await failTimes(stage, first, 1);
    await assertRefused(stage, second, 'CHANGE_BLOCKED');
    await assertRefused(stage, third, 'CHANGE_BLOCKED');
    await assertRefused(stage, third, 'CHANGE_PARKED');
    await stage.deliver(await stage.open(), earlier).answers('processed');
    const kept = (await listed(stage, first)).map(({ key, attempts, parked }) => ({
      key,
      attempts,
      parked,
    }));
    const byKey = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1);
    const expected = [
      { key: first.key, attempts: 1, parked: true },
      { key: second.key, attempts: 0, parked: true },
      { key: third.key, attempts: 0, parked: true },
    ];
    expect(kept.sort(byKey)).toStrictEqual(expected.sort(byKey));

    const replay = (event: InboxEvent) => ({
      ...event,
      failures: { ...failures, runParked: true },
    });
    await assertRefused(stage, replay(third), 'CHANGE_BLOCKED');
    for (const event of [first, second, third]) {
      await stage.deliver(await stage.open(), replay(event)).answers('processed');
    }
    await assertForgotten(stage, first);
  });
  it('parks a change with blockParked that was waiting while the earlier one was parked', async (stage) => {
    const change = createPayment();
    const failures = { parkAfter: 1, blockParked: true };
    const event = change({ failures });
    const later = change({ occurredAt: seconds(60), failures });
    const first = await stage.begin(await stage.open(), event);
    const early = await stage.deliverHeldOff(await stage.open(), later);
    first.fail();
    await first.rejects();
    await early.settled;
    expect(early.runs).toBe(0);
    const code = early.answer === 'busy' ? 'CHANGE_BLOCKED' : 'CHANGE_PARKED';
    await assertRefused(stage, later, code);
  });
  it('counts each failure of concurrent deliveries', async (stage) => {
    const event = createPayment()();
    const inboxes = [await stage.open(), await stage.open()];
    const deliveries = inboxes.flatMap((inbox) =>
      Array.from({ length: 5 }, () => stage.deliverFailing(inbox, { ...event })),
    );
    await Promise.all(deliveries.map(({ settled }) => settled));
    // The others were busy.
    const failed = deliveries.filter(({ runs }) => runs === 1).length;
    expect((await keptOf(stage, event)).attempts).toBe(failed);
  });
  it('lists failed changes by their first failure, up to the limit, even while they are discarded', async (stage) => {
    const change = createPayment();
    const events = Array.from({ length: 5 }, () => change());
    for (const event of events) await failTimes(stage, event, 1);
    const { paymentReference } = events[0] as InboxEvent;
    const limited: FailedChange[] = [];
    for await (const one of await stage.failedChanges({ paymentReference, limit: 2 })) {
      limited.push(one);
    }
    const all = await listed(stage, events[0] as InboxEvent);
    expect(limited).toStrictEqual(all.slice(0, 2));
    const times = all.map(({ firstFailedAt }) => Number(firstFailedAt));
    expect(times).toStrictEqual(times.toSorted((one, other) => one - other));

    const seen = new Set<string>();
    for await (const one of await stage.failedChanges({ paymentReference })) {
      seen.add(one.key);
      await stage.discard(one);
    }
    expect(seen).toStrictEqual(new Set(events.map(({ key }) => key)));
    await assertForgotten(stage, events[0] as InboxEvent);
  });
  it('lists the failed changes of every payment', async (stage) => {
    const events = [createPayment()(), createPayment()()];
    for (const event of events) await failTimes(stage, event, 1);
    const keys = new Set<string>();
    for await (const { key } of await stage.failedChanges()) keys.add(key);
    for (const { key } of events) expect(keys).toContain(key);
  });
  it('lists and discards failed changes whatever characters their names and errors contain', async (stage) => {
    for (const name of oddNames(randomUUID())) {
      const event = createPayment(name)({ key: `${name}-key` });
      const error = new Error(`begins\u0000\u001b[2J\n\u202e${name}${'long '.repeat(1_000)}`);
      await stage.deliverFailing(await stage.open(), event, error).rejects();
      const { message } = (await keptOf(stage, event)).error;
      expect(message).toMatch(/^begins/);
      expect(message.length).toBeLessThanOrEqual(500);
      expect(message).toMatch(/^\P{Cc}*$/u);
      expect(await stage.discard(event)).toBe(true);
    }
  });
}

/** For an inbox that keeps their bodies too. */
export function testKeptBodies(it: It): void {
  it('keeps the last body of a failed change as received, and reads no body without a failure', async (stage) => {
    let asked = 0;
    const rawBody = Uint8Array.from({ length: 256 }, (_, index) => index);
    const getRawBody = () => {
      asked += 1;
      return rawBody;
    };
    const event = createPayment()({ failures: { getRawBody } });
    await stage.deliver(await stage.open(), event).answers('processed');
    expect(asked).toBe(0);
    const failing = createPayment()({ failures: { getRawBody } });
    await failTimes(stage, failing, 1);
    await failTimes(stage, { ...failing, failures: undefined }, 1);
    const kept = (await keptOf(stage, failing)).rawBody;
    assert(kept instanceof Uint8Array);
    expect([...kept]).toStrictEqual([...rawBody]);
  });
}
