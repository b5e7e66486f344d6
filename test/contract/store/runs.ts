import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { StatusChange } from '../../../src/store/callback-store.js';
import { outcomeOf } from '../../store/outcome-of.js';
import { oddNames } from '../odd-names.js';
import type { CallbackStage, It } from './callback-stage.js';
import { createPayment, instant } from './changes.js';

/** The work runs once across all stores. */
export function testRuns(it: It<CallbackStage>): void {
  it('runs the work and answers processed when it has completed', async (stage) => {
    const change = createPayment();
    const delivery = await stage.begin(await stage.open(), change());
    await stage.pause();
    expect(delivery.answer).toBeUndefined();
    expect(delivery.context?.signal.aborted).toBe(false);
    delivery.complete();
    await delivery.answers('processed');
  });
  it('answers duplicate when a processed change is delivered again, to this store or another', async (stage) => {
    const { event, one, other } = await stage.scene();
    await stage.deliver(one, event).answers('processed');
    await stage.deliver(one, { ...event }).answers('duplicate');
    await stage.deliver(other, { ...event }).answers('duplicate');
    await stage.deliver(await stage.open(), { ...event }).answers('duplicate');
  });
  it('runs the work of only one of 50 concurrent deliveries', async (stage) => {
    const event = createPayment()();
    const stores = [await stage.open(), await stage.open()];
    const deliveries = Array.from({ length: 25 }, () =>
      stores.map((store) => stage.deliver(store, { ...event })),
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
}

/** After failed work, the change is as if it had never been delivered. */
export function testFailures(it: It<CallbackStage>): void {
  it('rejects with the original error of the work, and runs the next delivery', async (stage) => {
    const { event, one, other } = await stage.scene();
    for (const store of [one, other]) {
      const error = new Error('the work failed');
      const thrown = await stage.deliverFailing(store, event, error).rejects();
      expect(thrown).toBe(error);
    }
    await stage.deliver(one, event).answers('processed');
    await stage.deliver(other, event).answers('duplicate');
  });
  it('treats work that throws synchronously as work that failed', async (stage) => {
    const { event, one: store } = await stage.scene();
    const error = new Error('the work threw');
    const call = async () =>
      outcomeOf(store, event, () => {
        throw error;
      });
    await expect(call()).rejects.toBe(error);
    await stage.deliver(store, event).answers('processed');
    await stage.deliver(store, event).answers('duplicate');
  });
  it('completes the work once when the first of three concurrent deliveries fails', async (stage) => {
    const { event, one, other } = await stage.scene();
    const first = await stage.begin(one, event);
    const others = [one, other].map((store) => stage.deliver(store, { ...event }));
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

/** Asserts that all changes are processed as current, and that each is then a duplicate. */
async function assertKeptApart(
  stage: CallbackStage,
  changes: readonly StatusChange[],
): Promise<void> {
  const [one, other] = [await stage.open(), await stage.open()];
  for (const change of changes) await stage.deliver(one, change).runsWith({ current: true });
  for (const change of changes) await stage.deliver(other, change).answers('duplicate');
}

/** A reference or a key may be any text. */
export function testNames(it: It<CallbackStage>): void {
  it('distinguishes orders and payments whatever characters their references contain', async (stage) => {
    const key = randomUUID();
    const one = randomUUID();
    for (const field of ['merchantPaymentReference', 'referenceNumber'] as const) {
      // In falling order, so that a change is not current if the store confuses two references.
      const changes = oddNames(randomUUID()).map((name, index) =>
        createPayment({ merchantPaymentReference: one, referenceNumber: one, [field]: name })({
          key,
          updatedAt: instant(1e12 - index),
        }),
      );
      await assertKeptApart(stage, changes);
    }
  });
  it('distinguishes the changes of a payment whatever characters their keys contain', async (stage) => {
    const change = createPayment();
    const keys = [...oddNames(randomUUID()), '__proto__', 'constructor', 'null', '0'];
    await assertKeptApart(
      stage,
      keys.map((key) => change({ key })),
    );
  });
  it('distinguishes references and keys that are equal when joined', async (stage) => {
    const stem = randomUUID();
    const named = (merchantPaymentReference: string, referenceNumber: string, key: string) =>
      createPayment({ merchantPaymentReference, referenceNumber })({ key });
    const changes = ['', ':', '/', '|', '-', '_', ',', '.', ' ', '\u0000'].flatMap((separator) => [
      named(stem, `${stem}${separator}a`, 'b'),
      named(stem, stem, `a${separator}b`),
      named(`${stem}${separator}a`, stem, 'b'),
      named(`${stem}${separator}${stem}`, `a${separator}b`, 'b'),
    ]);
    await assertKeptApart(stage, changes);
  });
}
