import { describe, expect, it, vi } from 'vitest';
import type { CallbackInbox } from '../../src/store/inbox.js';
import { memoryInbox } from '../../src/store/memory-inbox.js';
import { sampleEvent } from './sample-event.js';

const HOUR_MS = 3_600_000;
const done = async () => {};

/** What becomes of a change of each of these payments, in turn. */
async function processAll(inbox: CallbackInbox, ...references: string[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const paymentReference of references) {
    outcomes.push(await inbox.process(sampleEvent({ paymentReference }), done));
  }
  return outcomes;
}

/** A delivery whose work runs until `end`. */
function hold(inbox: CallbackInbox, event = sampleEvent()) {
  let end = () => {};
  const outcome = inbox.process(
    event,
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  return { outcome, end: () => end() };
}

describe('a memory inbox', () => {
  it('remembers as many changes as maxEntries, and forgets the payment longest unchanged', async () => {
    const inbox = memoryInbox({ maxEntries: 2 });
    expect(await processAll(inbox, 'a', 'b')).toEqual(['processed', 'processed']);
    expect(await processAll(inbox, 'a', 'b')).toEqual(['duplicate', 'duplicate']);
    expect(await processAll(inbox, 'c', 'c', 'b')).toEqual(['processed', 'duplicate', 'duplicate']);
    expect(await processAll(inbox, 'a')).toEqual(['processed']);
  });

  it('counts every change of a payment', async () => {
    const inbox = memoryInbox({ maxEntries: 3 });
    await processAll(inbox, 'a', 'b');
    await inbox.process(sampleEvent({ paymentReference: 'b', key: 'change-2' }), done);
    expect(await processAll(inbox, 'a', 'b')).toEqual(['duplicate', 'duplicate']);
    await inbox.process(sampleEvent({ paymentReference: 'b', key: 'change-3' }), done);
    expect(await processAll(inbox, 'b', 'a')).toEqual(['duplicate', 'processed']);
  });

  it('keeps the latest change of a payment that alone has more than fit', async () => {
    const inbox = memoryInbox({ maxEntries: 1 });
    const changes = ['1', '2', '3'].map((key, index) =>
      sampleEvent({ key, occurredAt: new Date(index) }),
    );
    for (const change of changes) {
      expect(await inbox.process(change, done)).toBe('processed');
      expect(await inbox.process(change, done)).toBe('duplicate');
    }
    const answers = [];
    for (const change of changes) answers.push(await inbox.process(change, done));
    expect(answers).toEqual(['stale', 'stale', 'duplicate']);
  });

  it('forgets all changes of a payment at once, with its watermark', async () => {
    const inbox = memoryInbox({ maxEntries: 3 });
    await processAll(inbox, 'a');
    await inbox.process(sampleEvent({ paymentReference: 'a', key: 'change-2' }), done);
    await processAll(inbox, 'b', 'c', 'd');
    expect(await processAll(inbox, 'b', 'c', 'd')).toEqual(['duplicate', 'duplicate', 'duplicate']);
    const older = sampleEvent({ paymentReference: 'a', occurredAt: new Date(0) });
    expect(await inbox.process(older, done)).toBe('processed');
  });

  it('keeps a payment longer that changed again', async () => {
    const inbox = memoryInbox({ maxEntries: 3 });
    await processAll(inbox, 'a', 'b');
    await inbox.process(sampleEvent({ paymentReference: 'a', key: 'change-2' }), done);
    await processAll(inbox, 'c');
    expect(await processAll(inbox, 'a', 'c')).toEqual(['duplicate', 'duplicate']);
    expect(await processAll(inbox, 'b')).toEqual(['processed']);
  });

  it('does not take a delivery that is a duplicate for a change', async () => {
    const inbox = memoryInbox({ maxEntries: 2 });
    await processAll(inbox, 'a', 'b', 'a', 'c');
    expect(await processAll(inbox, 'b')).toEqual(['duplicate']);
    expect(await processAll(inbox, 'a')).toEqual(['processed']);
  });

  it('forgets a payment with its watermark retentionMs after its last change', async () => {
    let nowMs = 1_000;
    const inbox = memoryInbox({ retentionMs: HOUR_MS, now: () => nowMs });
    const older = sampleEvent({ key: 'older', occurredAt: new Date(0) });
    await inbox.process(sampleEvent(), done);
    nowMs += HOUR_MS - 1;
    expect(await inbox.process(sampleEvent(), done)).toBe('duplicate');
    expect(await inbox.process(older, done)).toBe('stale');
    nowMs += 1;
    expect(await inbox.process(older, done)).toBe('processed');
    expect(await inbox.process(sampleEvent(), done)).toBe('processed');
  });

  it('forgets all changes of the only payment at once, with its watermark', async () => {
    let nowMs = 0;
    const inbox = memoryInbox({ retentionMs: HOUR_MS, now: () => nowMs });
    await inbox.process(sampleEvent(), done);
    await inbox.process(sampleEvent({ key: 'change-2' }), done);
    nowMs += HOUR_MS;
    const older = sampleEvent({ key: 'older', occurredAt: new Date(0) });
    expect(await inbox.process(older, done)).toBe('processed');
  });

  it('counts the age of all that it knows of a payment from its last change', async () => {
    let nowMs = 1_000;
    const inbox = memoryInbox({ retentionMs: HOUR_MS, now: () => nowMs });
    await inbox.process(sampleEvent(), done);
    nowMs += HOUR_MS - 1;
    await inbox.process(sampleEvent({ key: 'change-2' }), done);
    nowMs += HOUR_MS - 1;
    expect(await inbox.process(sampleEvent(), done)).toBe('duplicate');
  });

  it('remembers for a day, by the clock of the process, unless told otherwise', async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(0);
    const inbox = memoryInbox();
    await inbox.process(sampleEvent(), done);
    clock.mockReturnValue(24 * HOUR_MS - 1);
    expect(await inbox.process(sampleEvent(), done)).toBe('duplicate');
    clock.mockReturnValue(24 * HOUR_MS);
    expect(await inbox.process(sampleEvent(), done)).toBe('processed');
  });

  it('follows a clock that is faked after it was made', async () => {
    const inbox = memoryInbox();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(0);
    await inbox.process(sampleEvent(), done);
    clock.mockReturnValue(24 * HOUR_MS);
    expect(await inbox.process(sampleEvent(), done)).toBe('processed');
  });

  it('never forgets what is being processed', async () => {
    let nowMs = 0;
    const inbox = memoryInbox({ maxEntries: 1, retentionMs: 1, now: () => nowMs });
    const running = hold(inbox);
    await processAll(inbox, 'a', 'b', 'c');
    nowMs += HOUR_MS;
    expect(await inbox.process(sampleEvent(), done)).toBe('busy');
    running.end();
    expect(await running.outcome).toBe('processed');
    expect(await inbox.process(sampleEvent(), done)).toBe('duplicate');
  });

  it('counts the age from the end of the work', async () => {
    let nowMs = 0;
    const inbox = memoryInbox({ retentionMs: HOUR_MS, now: () => nowMs });
    const running = hold(inbox);
    nowMs += HOUR_MS;
    running.end();
    await running.outcome;
    expect(await inbox.process(sampleEvent(), done)).toBe('duplicate');
  });

  it('answers busy, without running it, to every change of a payment being processed', async () => {
    const inbox = memoryInbox();
    const running = hold(inbox);
    const work = vi.fn(done);
    expect(await inbox.process(sampleEvent(), work)).toBe('busy');
    expect(await inbox.process(sampleEvent({ key: 'change-2' }), work)).toBe('busy');
    running.end();
    await running.outcome;
    expect(work).not.toHaveBeenCalled();
  });

  it('gives the work no transaction, and one signal', async () => {
    await memoryInbox().process(sampleEvent(), async (context) => {
      expect(context.tx).toBeUndefined();
      expect(context.signal).toBe(context.signal);
    });
  });

  it.each([
    ['options', null, 'options must be an object with maxEntries, retentionMs, keepBodies, now'],
    ['maxEntries', { maxEntries: 0 }, 'maxEntries must be a whole number of entries from 1'],
    ['maxEntries', { maxEntries: Number.NaN }, 'received NaN'],
    [
      'retentionMs',
      { retentionMs: 1.5 },
      'retentionMs must be a whole number of milliseconds from 1',
    ],
    ['now', { now: 5 }, 'now must be a function that returns epoch milliseconds'],
    ['retention', { retention: 5 }, 'retention is not a known option; use retentionMs'],
  ])('refuses a wrong %s: %o', (option, options, message) => {
    expect(() => memoryInbox(options as never)).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
  });
});
