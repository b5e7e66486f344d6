import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors.js';
import type { Attention, FailedChange } from '../../src/store/attention.js';
import type { CallbackStore, ManagedStore } from '../../src/store/callback-store.js';
import { memoryStore } from '../../src/store/memory.js';
import { memoryCallbacks } from '../../src/store/memory-callbacks.js';
import { changeOf } from './orders.js';
import { outcomeOf } from './outcome-of.js';

type Fields = Parameters<typeof changeOf>[0];

const done = async () => {};
const broken = () => Promise.reject(new Error('broken'));

async function fail(store: CallbackStore, fields: Fields): Promise<void> {
  await expect(outcomeOf(store, changeOf(fields), broken)).rejects.toThrow('broken');
}

async function list(store: ManagedStore): Promise<FailedChange[]> {
  const changes: FailedChange[] = [];
  for await (const item of store.attention({ kinds: ['failed-change'] })) {
    if (item.kind === 'failed-change') changes.push(item);
  }
  return changes;
}

const paymentsOf = (changes: FailedChange[]) => changes.map((change) => change.referenceNumber);

describe('the failures in a store in memory', () => {
  it('are the latest 1,000: the change that failed first is evicted', async () => {
    let nowMs = 0;
    const store = memoryStore({ now: () => nowMs++ });
    const references = Array.from({ length: 1_001 }, (_, index) => `payment-${index}`);
    for (const referenceNumber of references.slice(0, 1_000)) {
      await fail(store, { referenceNumber });
    }
    // No new change, so none is evicted.
    await fail(store, { referenceNumber: 'payment-0' });
    expect(paymentsOf(await list(store))).toEqual(references.slice(0, 1_000));
    await fail(store, { referenceNumber: 'payment-1000' });
    expect(paymentsOf(await list(store))).toEqual(references.slice(1));
  });

  it('park a change that has failed before parkAfter was set, at its next failure', async () => {
    const store = memoryStore();
    for (let time = 0; time < 3; time += 1) await fail(store, {});
    expect(await list(store)).toMatchObject([{ attempts: 3, parked: false }]);
    await fail(store, { failures: { parkAfter: 2 } });
    expect(await list(store)).toMatchObject([{ attempts: 4, parked: true }]);
  });

  it('are none where a replay is impossible', async () => {
    const store = memoryStore();
    const impossible = new StoreError('REPLAY_IMPOSSIBLE', 'no body');
    const replay = outcomeOf(store, changeOf(), () => Promise.reject(impossible));
    await expect(replay).rejects.toBe(impossible);
    expect(await list(store)).toEqual([]);
  });

  it('have their own copy of the body, which neither its source nor its reader can change', async () => {
    const store = memoryStore();
    // slice() of a Buffer shares its memory.
    const rawBody = Buffer.of(1, 2);
    await fail(store, { failures: { getRawBody: () => rawBody } });
    rawBody.fill(0);
    const [first] = await list(store);
    expect(first?.rawBody).toEqual(Uint8Array.of(1, 2));
    first?.rawBody?.fill(0);
    if (first !== undefined) first.error.message = 'another';
    expect(await list(store)).toMatchObject([
      { rawBody: Uint8Array.of(1, 2), error: { message: 'broken' } },
    ]);
  });
});

describe('the store of a receiver that was given none', () => {
  it('processes changes, keeps failures with their bodies, and lists nothing of payments', async () => {
    const store = memoryCallbacks();
    expect(await outcomeOf(store, changeOf({ key: 'first' }), done)).toBe('processed');
    expect(await outcomeOf(store, changeOf({ key: 'first' }), done)).toBe('duplicate');
    await fail(store, { failures: { getRawBody: () => Buffer.from('{}') } });
    const items: Attention[] = [];
    for await (const item of store.attention({ olderThanMs: 0 })) items.push(item);
    const rawBody = new TextEncoder().encode('{}');
    expect(items).toMatchObject([{ kind: 'failed-change', attempts: 1, rawBody }]);
  });
});

describe('prune() in memory', () => {
  it('counts the changes and the orders that it has deleted, and no failures', async () => {
    let nowMs = 0;
    const store = memoryStore({ now: () => nowMs });
    await outcomeOf(store, changeOf({ key: 'done' }), done);
    await fail(store, { key: 'failed' });
    nowMs = 10;
    // Its order and what was processed of its payment stay with it.
    expect(await store.prune(new Date(10))).toBe(0);
    const [failed] = await list(store);
    expect(failed).toMatchObject({ key: 'failed' });
    await store.discard(failed as FailedChange);
    expect(await store.prune(new Date(10))).toBe(2);
  });
});
