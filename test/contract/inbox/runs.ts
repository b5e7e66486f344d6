import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { InboxEvent } from '../../../src/store/inbox.js';
import { oddNames } from '../odd-names.js';
import { createPayment, type It, type Stage, seconds } from './stage.js';

/** The work runs once across all inboxes. */
export function testRuns(it: It): void {
  it('runs the work and answers processed when it has completed', async (stage) => {
    const change = createPayment();
    const delivery = await stage.begin(await stage.open(), change());
    await stage.pause();
    expect(delivery.answer).toBeUndefined();
    delivery.complete();
    await delivery.answers('processed');
  });
  it('answers duplicate when a processed change is delivered again, to this inbox or another', async (stage) => {
    const { event, one, other } = await stage.scene();
    await stage.deliver(one, event).answers('processed');
    await stage.deliver(one, { ...event }).answers('duplicate');
    await stage.deliver(other, { ...event }).answers('duplicate');
    await stage.deliver(await stage.open(), { ...event }).answers('duplicate');
  });
  it('runs the work of only one of 50 concurrent deliveries', async (stage) => {
    const event = createPayment()();
    const inboxes = [await stage.open(), await stage.open()];
    const deliveries = Array.from({ length: 25 }, () =>
      inboxes.map((inbox) => stage.deliver(inbox, { ...event })),
    ).flat();
    const answers = await Promise.all(
      deliveries.map((delivery) => delivery.answers('processed', 'duplicate', 'busy')),
    );
    const processed = answers.filter((answer) => answer === 'processed').length;
    expect(processed).toBe(1);
    await stage.deliver(await stage.open(), event).answers('duplicate');
  });
  it('does not answer duplicate while the first delivery is still being processed', async (stage) => {
    const { event, one, other } = await stage.scene();
    const first = await stage.begin(one, event);
    const repeats = [stage.deliver(one, { ...event }), stage.deliver(other, { ...event })];
    await stage.pause();
    for (const repeat of repeats) repeat.assertHeldOff();
    first.complete();
    await first.answers('processed');
    for (const repeat of repeats) await repeat.answers('busy', 'duplicate');
    await stage.deliver(other, event).answers('duplicate');
  });
  it('passes the work a signal that is not aborted', async (stage) => {
    const delivery = stage.hold(await stage.open(), createPayment()());
    const { signal } = await delivery.begun();
    expect(signal).toBeInstanceOf(AbortSignal);
    await stage.pause();
    expect(signal.aborted).toBe(false);
    delivery.complete();
    await delivery.answers('processed');
  });
  it('processes the event as it was at the call, even if the caller changes it afterwards', async (stage) => {
    const inbox = await stage.open();
    const [change, other] = [createPayment(), createPayment()];
    const original = change({ microseconds: 5 });
    const event = { ...original, occurredAt: seconds(0) };
    const delivery = stage.deliver(inbox, event);
    event.occurredAt.setTime(seconds(3600).getTime());
    Object.assign(event, other({ occurredAt: seconds(7200), microseconds: 7 }));
    await delivery.answers('processed');

    await stage.deliver(inbox, original).answers('duplicate');
    await stage.deliver(inbox, event).answers('processed');
    await stage.deliver(inbox, change({ microseconds: 4 })).answers('stale');
    await stage.deliver(inbox, change({ microseconds: 6 })).answers('processed');
  });
}

/** After failed work, the event is as if it had never been delivered. */
export function testFailures(it: It): void {
  it('rejects with the original error of the work, and runs the next delivery', async (stage) => {
    const { event, one, other } = await stage.scene();
    for (const inbox of [one, other]) {
      const error = new Error('the work failed');
      const thrown = await stage.deliverFailing(inbox, event, error).rejects();
      expect(thrown).toBe(error);
    }
    await stage.deliver(one, event).answers('processed');
    await stage.deliver(other, event).answers('duplicate');
  });
  it('treats work that throws synchronously as work that failed', async (stage) => {
    const { event, one: inbox } = await stage.scene();
    const error = new Error('the work threw');
    const call = async () =>
      inbox.process(event, () => {
        throw error;
      });
    await expect(call()).rejects.toBe(error);
    await stage.deliver(inbox, event).answers('processed');
    await stage.deliver(inbox, event).answers('duplicate');
  });
  it('completes the work once when the first of three concurrent deliveries fails', async (stage) => {
    const { event, one, other } = await stage.scene();
    const first = await stage.begin(one, event);
    const others = [one, other].map((inbox) => stage.deliver(inbox, { ...event }));
    await stage.pause();
    for (const delivery of others) delivery.assertHeldOff();
    const error = new Error('the first failed');
    first.fail(error);
    expect(await first.rejects()).toBe(error);

    const answers = await Promise.all(
      others.map((delivery) => delivery.answers('processed', 'duplicate', 'busy')),
    );
    const processed = answers.filter((answer) => answer === 'processed').length;
    expect(processed).toBeLessThanOrEqual(1);
    // Deliveries that waited ran the work one by one; those that were busy leave it to a later delivery.
    await stage.deliver(other, event).answers(processed === 1 ? 'duplicate' : 'processed');
    await stage.deliver(one, event).answers('duplicate');
  });
}

/** Asserts that all events are processed, and that each is then a duplicate. */
async function assertKeptApart(stage: Stage, events: readonly InboxEvent[]): Promise<void> {
  const [one, other] = [await stage.open(), await stage.open()];
  for (const event of events) await stage.deliver(one, event).answers('processed');
  for (const event of events) await stage.deliver(other, event).answers('duplicate');
}

/** A reference or a key may be any text. */
export function testNames(it: It): void {
  it('distinguishes payments whatever characters their references contain', async (stage) => {
    const key = randomUUID();
    // In falling order, so that a change is stale if the store confuses two references.
    const events = oddNames(randomUUID()).map((reference, index) =>
      createPayment(reference)({ key, occurredAt: new Date(1e12 - index) }),
    );
    await assertKeptApart(stage, events);
  });
  it('distinguishes the changes of a payment whatever characters their keys contain', async (stage) => {
    const change = createPayment();
    const keys = [...oddNames(randomUUID()), '__proto__', 'constructor', 'null', '0'];
    await assertKeptApart(
      stage,
      keys.map((key) => change({ key })),
    );
  });
  it('accepts a reference that is a property of every object', async (stage) => {
    // The reference can't be random, so the store may know it from an earlier run: hence processStale.
    const change = createPayment('__proto__');
    await assertKeptApart(stage, [change({ processStale: true }), change({ processStale: true })]);
  });
  it('distinguishes references and keys that are equal when joined', async (stage) => {
    const stem = randomUUID();
    const events = ['', ':', '/', '|', '-', '_', ',', '.', ' ', '\u0000'].flatMap((separator) => [
      createPayment(`${stem}${separator}a`)({ key: 'b' }),
      createPayment(stem)({ key: `a${separator}b` }),
    ]);
    await assertKeptApart(stage, events);
  });
}
