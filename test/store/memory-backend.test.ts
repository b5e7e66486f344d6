import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryOutbox } from '../../src/store/memory-outbox.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Claim, Finding, Intent, Page } from '../../src/store/store.js';
import { unusedClient } from './unused-client.js';

const INTENT: Intent = { body: 'one body', digest: 'one' };
const OTHER: Intent = { body: 'another body', digest: 'another' };
const REJECTED = { state: 'rejected', failure: undefined } as const;
const UNRESOLVED = { state: 'unresolved', failure: undefined } as const;
const LEASE_MS = 50;

function open(maxEntries = 100) {
  const clock = { nowMs: 1_000 };
  const store = new MemoryStore({ maxEntries, now: () => clock.nowMs });
  const claim = (key: string, more: Partial<Claim> = {}) =>
    store.claim({
      key,
      intent: INTENT,
      owner: 'one',
      allowsRejected: true,
      leaseMs: LEASE_MS,
      ...more,
    });
  return { store, clock, claim };
}

const page = (more: Partial<Page> = {}): Page => ({
  olderThanMs: 0,
  after: undefined,
  limit: 100,
  ...more,
});
const finding = (referenceNumber: string | undefined, updatedAtUs?: number): Finding => ({
  referenceNumber,
  payment: `{"at":${updatedAtUs}}`,
  updatedAtUs,
});

describe('a claim', () => {
  it('makes the payment sending under its owner, with one more attempt', async () => {
    const { store, clock, claim } = open();
    await store.record('a', INTENT);
    clock.nowMs = 1_010;
    expect(await claim('a')).toEqual({
      granted: true,
      stored: {
        ...INTENT,
        state: 'sending',
        attempts: 1,
        recordedAtMs: 1_000,
        sentAtMs: 1_010,
        changedAtMs: 1_010,
      },
    });
    expect(await store.finish('a', 'another', UNRESOLVED)).toBeUndefined();
    expect(await store.finish('a', 'one', UNRESOLVED)).toMatchObject({ state: 'unresolved' });
    expect(await store.finish('a', 'one', REJECTED)).toBeUndefined();
    expect(await store.finish('b', 'one', REJECTED)).toBeUndefined();
  });

  it('without an intent is granted only for a stored payment', async () => {
    const { store, claim } = open();
    expect(await claim('a', { intent: undefined })).toEqual({ granted: false });
    expect(await store.read('a')).toBeUndefined();
    await store.record('a', INTENT);
    expect(await claim('a', { intent: undefined })).toMatchObject({ granted: true });
  });

  it('for another payment is not granted, unless the stored one was rejected', async () => {
    const { store, claim } = open();
    await store.record('a', INTENT);
    expect(await claim('a', { intent: OTHER })).toMatchObject({ granted: false, stored: INTENT });
    await claim('a');
    await store.finish('a', 'one', REJECTED);
    expect(await claim('a', { intent: OTHER, allowsRejected: false })).toMatchObject({
      granted: false,
    });
    expect(await claim('a', { intent: OTHER })).toMatchObject({ granted: true, stored: OTHER });
  });

  it.each([
    [LEASE_MS - 1, 'sending'],
    [LEASE_MS, 'unresolved'],
  ])('%i ms after a lease of 50 ms finds the payment %s', async (afterMs, state) => {
    const { clock, claim } = open();
    await claim('a');
    clock.nowMs += afterMs;
    expect(await claim('a')).toMatchObject({ granted: false, stored: { state } });
  });
});

describe('a payment that does not change', () => {
  it('keeps the time of its last change', async () => {
    const { store, clock, claim } = open();
    await claim('a');
    await store.finish('a', 'one', { state: 'created', finding: finding('PAY-1', 5) });
    const before = await store.read('a');
    clock.nowMs += 10;
    expect(await claim('a', { owner: 'two' })).toEqual({ granted: false, stored: before });
    expect(await store.settle('a', finding('PAY-1', 4))).toBe('known');
    expect(await store.read('a')).toEqual(before);
    expect(await store.settle('b', finding('PAY-1', 4))).toBe('not-ours');
  });
});

describe('a record', () => {
  it('returns the payment that prevents it, including one with an expired lease', async () => {
    const { store, clock, claim } = open();
    expect(await store.record('a', INTENT)).toBeUndefined();
    expect(await store.record('a', OTHER)).toMatchObject({
      ...INTENT,
      state: 'recorded',
    });
    await claim('a');
    clock.nowMs += LEASE_MS;
    expect(await store.record('a', INTENT)).toMatchObject({ state: 'unresolved' });
  });

  it('replaces a rejected payment', async () => {
    const { store, claim } = open();
    await claim('a');
    await store.finish('a', 'one', REJECTED);
    expect(await store.record('a', OTHER)).toBeUndefined();
    expect(await store.read('a')).toMatchObject({ ...OTHER, state: 'recorded' });
  });
});

describe('a callback', () => {
  it.each([
    ['an older record', 9, 'leaves'],
    ['a record of the same time', 10, 'replaces'],
    ['a newer record', 11, 'replaces'],
    ['a record of no time', undefined, 'leaves'],
  ])('with %s, of %s µs, %s what is known', async (_, atUs, effect) => {
    const { store, claim } = open();
    await claim('a');
    const [first, second] = [finding('PAY-1', 10), { ...finding('PAY-1', atUs), payment: '{}' }];
    expect(await store.settle('a', first)).toBe('settled');
    expect(await store.settle('a', second)).toBe('known');
    const { payment } = effect === 'leaves' ? first : second;
    expect(await store.read('a')).toMatchObject({ payment });
  });

  it('without a number changes nothing in a created payment', async () => {
    const { store, claim } = open();
    await claim('a');
    await store.settle('a', finding('PAY-1', 10));
    expect(await store.settle('a', finding(undefined, 11))).toBe('known');
    expect(await store.read('a')).toMatchObject({ referenceNumber: 'PAY-1', payment: '{"at":10}' });
  });

  it('keeps the newest record of a second payment, and the time when it was first found', async () => {
    const { store, clock, claim } = open();
    await claim('a');
    await store.settle('a', finding('PAY-1', 10));
    for (const atUs of [10, 12, 11]) {
      await store.settle('a', finding('PAY-2', atUs));
      clock.nowMs += 1;
    }
    await store.settle('a', { ...finding('PAY-3'), payment: undefined });
    expect(await store.listSecondPayments({ after: undefined, limit: 10 })).toMatchObject([
      { key: 'a', referenceNumber: 'PAY-2', payment: '{"at":12}', foundAtMs: 1_000 },
      { key: 'a', referenceNumber: 'PAY-3', payment: '{}', foundAtMs: 1_003 },
    ]);
  });
});

describe('a list', () => {
  it('orders entries of the same time by key', async () => {
    const { store } = open();
    for (const key of ['c', 'a', 'd', 'b']) await store.record(key, INTENT);
    const keys = async (more: Partial<Page>) =>
      (await store.listRecorded(page(more))).map(({ key }) => key);
    expect(await keys({})).toEqual(['a', 'b', 'c', 'd']);
    expect(await keys({ limit: 2 })).toEqual(['a', 'b']);
    expect(await keys({ after: { atMs: 1_000, key: 'b' } })).toEqual(['c', 'd']);
    expect(await keys({ after: { atMs: 999, key: 'z' } })).toEqual(['a', 'b', 'c', 'd']);
    expect(await keys({ after: { atMs: 1_001, key: '' } })).toEqual([]);
  });

  it('includes payments that are exactly as old as asked for', async () => {
    const { store, clock } = open();
    await store.record('b', INTENT);
    clock.nowMs += 1;
    await store.record('a', INTENT);
    clock.nowMs += 9;
    const keys = async (olderThanMs: number) =>
      (await store.listRecorded(page({ olderThanMs }))).map(({ key }) => key);
    expect(await keys(9)).toEqual(['b', 'a']);
    expect(await keys(10)).toEqual(['b']);
    expect(await keys(11)).toEqual([]);
  });

  it('of unresolved payments is ordered by sentAt, and includes expired leases', async () => {
    const { store, clock, claim } = open();
    await claim('b');
    clock.nowMs += 1;
    await claim('a');
    await claim('c', { leaseMs: 1_000 });
    await store.finish('b', 'one', UNRESOLVED);
    clock.nowMs += LEASE_MS;
    const listed = await store.listUnresolved(page());
    expect(listed.map(({ key, stored }) => [key, stored.state])).toEqual([
      ['b', 'unresolved'],
      ['a', 'unresolved'],
    ]);
    expect(await store.expire()).toBe(0);
  });

  it('of second payments is ordered by foundAt, key and number', async () => {
    const { store, clock, claim } = open();
    for (const key of ['a', 'b']) {
      await claim(key);
      await store.settle(key, finding('PAY-1'));
    }
    for (const [key, number] of [
      ['b', 'PAY-2'],
      ['a', 'PAY-4'],
      ['a', 'PAY-3'],
    ] as const) {
      await store.settle(key, finding(number));
    }
    clock.nowMs -= 1;
    await store.settle('b', finding('PAY-5'));
    const all = await store.listSecondPayments({ after: undefined, limit: 10 });
    const names = (some: typeof all) =>
      some.map(({ key, referenceNumber }) => key + referenceNumber);
    expect(names(all)).toEqual(['bPAY-5', 'aPAY-3', 'aPAY-4', 'bPAY-2']);
    expect(names(await store.listSecondPayments({ after: all[1], limit: 1 }))).toEqual(['aPAY-4']);
  });
});

it('expires each lease once, and stores when', async () => {
  const { store, clock, claim } = open();
  await claim('a');
  await store.record('b', INTENT);
  expect(await store.expire()).toBe(0);
  clock.nowMs += LEASE_MS;
  expect(await store.expire()).toBe(1);
  clock.nowMs += 1;
  expect(await store.expire()).toBe(0);
  expect(await store.read('a')).toMatchObject({ state: 'unresolved', changedAtMs: 1_050 });
});

it('resolves only unresolved payments', async () => {
  const { store, clock, claim } = open();
  expect(await store.resolve('a', REJECTED, 1)).toBeUndefined();
  await claim('a');
  clock.nowMs += 1;
  expect(await store.resolve('a', REJECTED, 1)).toEqual({ outcome: 'too-early', leftMs: 49 });
  expect(await store.read('a')).toMatchObject({ state: 'sending', changedAtMs: 1_000 });
  clock.nowMs += LEASE_MS - 1;
  expect(await store.resolve('a', REJECTED, 2)).toMatchObject({ outcome: 'moved-on' });
  expect(await store.read('a')).toMatchObject({ state: 'unresolved' });
  expect(await store.resolve('a', REJECTED, 1)).toEqual({ outcome: 'resolved' });
  expect(await store.finish('a', 'one', UNRESOLVED)).toBeUndefined();
  expect(await store.read('a')).toMatchObject({ state: 'rejected' });
});

describe('a deleted payment', () => {
  it('is completed, and older than asked for', async () => {
    const { store, clock, claim } = open();
    for (const key of ['created', 'rejected', 'unresolved', 'sending', 'late']) await claim(key);
    await store.record('recorded', INTENT);
    await store.settle('created', finding('PAY-1'));
    await store.settle('created', finding('PAY-2'));
    await store.finish('rejected', 'one', REJECTED);
    await store.finish('unresolved', 'one', UNRESOLVED);
    clock.nowMs += 1;
    await store.finish('late', 'one', REJECTED);
    expect(await store.prune(new Date(1_000))).toBe(0);
    expect(await store.listSecondPayments({ after: undefined, limit: 1 })).toHaveLength(1);
    expect(await store.prune(new Date(1_001))).toBe(2);
    expect(await store.listSecondPayments({ after: undefined, limit: 1 })).toEqual([]);
    for (const key of ['unresolved', 'sending', 'late', 'recorded']) {
      expect(await store.read(key)).toBeDefined();
    }
    for (const key of ['created', 'rejected']) expect(await store.read(key)).toBeUndefined();
  });

  it('is the one with the oldest last change, when there are too many', async () => {
    const { store, claim } = open(3);
    await store.record('recorded', INTENT);
    for (const key of ['first', 'second']) {
      await claim(key);
      await store.finish(key, 'one', REJECTED);
    }
    await store.settle('first', finding('PAY-1'));
    expect(await store.read('second')).toBeDefined();
    await store.record('new', INTENT);
    expect(await store.read('second')).toBeUndefined();
    for (const key of ['recorded', 'first', 'new']) expect(await store.read(key)).toBeDefined();
  });

  it('is never an open one, however many there are', async () => {
    const { store } = open(1);
    for (const key of ['a', 'b', 'c']) await store.record(key, INTENT);
    for (const key of ['a', 'b', 'c']) expect(await store.read(key)).toBeDefined();
  });
});

describe('memoryOutbox', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ['client', {}, 'client is missing; it must be a PaymentClient'],
    ['client', { client: {} }, 'client must be a PaymentClient; received an object'],
    ['client', { client: null }, 'client must be a PaymentClient; received null'],
    ['leaseMs', { leaseMs: 99 }, 'from 100 to'],
    ['maxEntries', { maxEntries: 0 }, 'maxEntries must be a whole number of payments from 1'],
    ['now', { now: 1 }, 'now must be'],
  ])('refuses a wrong %s', (option, options, message) => {
    const given = { client: unusedClient, ...options };
    if (Object.keys(options).length === 0) delete (given as { client?: unknown }).client;
    expect(() => memoryOutbox(given as never)).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
  });

  it('says what it needs', () => {
    expect(() => memoryOutbox(undefined as never)).toThrow(
      /^options is missing; it must be an object with client$/,
    );
  });

  it('takes its time from now, and forgets beyond maxEntries', async () => {
    const outbox = memoryOutbox({
      client: unusedClient,
      now: () => 5,
      maxEntries: 1,
      leaseMs: 100,
    });
    await outbox.record({ merchantPaymentReference: 'a', amount: 1, currency: 'EUR' }, { tx: 0 });
    expect(await outbox.get('a')).toMatchObject({
      recordedAt: new Date(5),
      changedAt: new Date(5),
    });
  });
});
