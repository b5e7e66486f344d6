import { describe, expect, it } from 'vitest';
import type { CallbackStore } from '../../src/store/callback-store.js';
import { memoryStore } from '../../src/store/memory.js';
import { seconds } from '../contract/store/changes.js';
import { hold } from './held-delivery.js';
import { changeOf, order } from './orders.js';
import { outcomeOf } from './outcome-of.js';
import { unusedClient } from './unused-client.js';

const HOUR_MS = 3_600_000;
const done = async () => {};

/** What becomes of a change of each of these payments of orders of their own, in turn. */
async function processAll(store: CallbackStore, ...references: string[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const reference of references) {
    outcomes.push(await outcomeOf(store, changeIn(reference), done));
  }
  return outcomes;
}

/** A change of the only payment of an order. */
const changeIn = (reference: string, fields: Parameters<typeof changeOf>[0] = {}) =>
  changeOf({ ...fields, order: reference, referenceNumber: reference });

describe('a store in memory', () => {
  it('remembers as many payments as maxEntries, and forgets the one longest unchanged', async () => {
    const store = memoryStore({ maxEntries: 2 });
    expect(await processAll(store, 'a', 'b')).toEqual(['processed', 'processed']);
    expect(await processAll(store, 'a', 'b')).toEqual(['duplicate', 'duplicate']);
    expect(await processAll(store, 'c', 'c', 'b')).toEqual(['processed', 'duplicate', 'duplicate']);
    expect(await processAll(store, 'a')).toEqual(['processed']);
  });

  it('keeps all changes of a payment, however many there are', async () => {
    const store = memoryStore({ maxEntries: 1 });
    const changes = ['1', '2', '3'].map((key, index) =>
      changeOf({ key, updatedAt: seconds(index) }),
    );
    for (const change of changes) expect(await outcomeOf(store, change, done)).toBe('processed');
    for (const change of changes) expect(await outcomeOf(store, change, done)).toBe('duplicate');
  });

  it('forgets all changes of a payment at once, with its watermark', async () => {
    const store = memoryStore({ maxEntries: 3 });
    await processAll(store, 'a');
    await outcomeOf(store, changeIn('a', { key: 'change-2' }), done);
    await processAll(store, 'b', 'c', 'd');
    expect(await processAll(store, 'b', 'c', 'd')).toEqual(['duplicate', 'duplicate', 'duplicate']);
    const older = changeIn('a', { key: 'older', updatedAt: seconds(-1) });
    expect(await outcomeOf(store, older, done)).toBe('processed');
  });

  it('keeps a payment longer that changed again', async () => {
    const store = memoryStore({ maxEntries: 2 });
    await processAll(store, 'a', 'b');
    await outcomeOf(store, changeIn('a', { key: 'change-2' }), done);
    await processAll(store, 'c');
    expect(await processAll(store, 'a', 'c')).toEqual(['duplicate', 'duplicate']);
    expect(await processAll(store, 'b')).toEqual(['processed']);
  });

  it('never forgets what is being processed', async () => {
    let nowMs = 0;
    const store = memoryStore({ maxEntries: 1, now: () => nowMs });
    const running = await hold(store, changeOf());
    await processAll(store, 'a', 'b', 'c');
    nowMs += HOUR_MS;
    expect(await outcomeOf(store, changeOf(), done)).toBe('busy');
    expect(await running.complete()).toBe('processed');
    expect(await outcomeOf(store, changeOf(), done)).toBe('duplicate');
  });

  it.each([
    ['options', null, 'options must be an object with client'],
    ['maxEntries', { maxEntries: 0 }, 'maxEntries must be a whole number of entries from 1'],
    ['maxEntries', { maxEntries: Number.NaN }, 'received NaN'],
    ['client', { client: {} }, 'client must be a PaymentClient; received an object'],
    ['client', { client: null }, 'client must be a PaymentClient; received null'],
    ['leaseMs', { leaseMs: 99 }, 'from 100 to'],
    ['now', { now: 5 }, 'now must be a function that returns epoch milliseconds'],
    ['entries', { entries: 5 }, 'entries is not a known option; use maxEntries'],
  ])('refuses a wrong %s: %o', (option, options, message) => {
    expect(() => memoryStore(options as never)).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
  });

  it('takes its time from now, and never forgets an open payment', async () => {
    const store = memoryStore({ client: unusedClient, now: () => 5, maxEntries: 1, leaseMs: 100 });
    for (const reference of ['a', 'b']) await store.record(order(reference), { tx: undefined });
    const times = { recordedAt: new Date(5), changedAt: new Date(5) };
    for (const reference of ['a', 'b']) expect(await store.get(reference)).toMatchObject(times);
  });
});
