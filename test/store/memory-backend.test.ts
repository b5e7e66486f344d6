import { describe, expect, it } from 'vitest';
import { MemoryBackend } from '../../src/store/memory-backend.js';
import type { Claim, Intent, Page, SecondRow, ServiceRecord } from '../../src/store/payment-row.js';
import { MEMORY } from './memory-engine.js';

const INTENT: Intent = { body: 'one body', digest: 'one' };
const OTHER: Intent = { body: 'another body', digest: 'another' };
const REJECTED = { state: 'rejected', failure: undefined } as const;
const UNRESOLVED = { state: 'unresolved', failure: undefined } as const;
const LEASE_MS = 50;

function open(maxEntries = 100) {
  const clock = { nowMs: 1_000 };
  const backend = new MemoryBackend({ ...MEMORY, maxEntries, now: () => clock.nowMs });
  const claim = (key: string, more: Partial<Claim> = {}) =>
    backend.claim({
      key,
      intent: INTENT,
      owner: 'one',
      allowsRejected: true,
      leaseMs: LEASE_MS,
      ...more,
    });
  return { backend, clock, claim };
}

const page = (more: Partial<Page> = {}): Page => ({
  olderThanMs: 0,
  after: undefined,
  limit: 100,
  ...more,
});
const serviceRecord = (
  referenceNumber: string | undefined,
  updatedAtUs?: number,
): ServiceRecord => ({
  referenceNumber,
  payment: `{"at":${updatedAtUs}}`,
  updatedAtUs,
});

describe('a claim', () => {
  it('makes the payment sending under its owner, with one more attempt', async () => {
    const { backend, clock, claim } = open();
    await backend.record({ key: 'a', intent: INTENT });
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
    expect(await backend.finish('a', 'another', UNRESOLVED)).toBeUndefined();
    expect(await backend.finish('a', 'one', UNRESOLVED)).toMatchObject({ state: 'unresolved' });
    expect(await backend.finish('a', 'one', REJECTED)).toBeUndefined();
    expect(await backend.finish('b', 'one', REJECTED)).toBeUndefined();
  });

  it('without an intent is granted only for a stored payment', async () => {
    const { backend, claim } = open();
    expect(await claim('a', { intent: undefined })).toEqual({ granted: false });
    expect(await backend.read('a')).toBeUndefined();
    await backend.record({ key: 'a', intent: INTENT });
    expect(await claim('a', { intent: undefined })).toMatchObject({ granted: true });
  });

  it('for another payment is not granted, unless the stored one was rejected', async () => {
    const { backend, claim } = open();
    await backend.record({ key: 'a', intent: INTENT });
    expect(await claim('a', { intent: OTHER })).toMatchObject({ granted: false, stored: INTENT });
    await claim('a');
    await backend.finish('a', 'one', REJECTED);
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
    expect(await claim('a', { owner: 'other' })).toMatchObject({
      granted: false,
      stored: { state },
    });
  });
});

describe('a payment that does not change', () => {
  it('keeps the time of its last change', async () => {
    const { backend, clock, claim } = open();
    await claim('a');
    await backend.finish('a', 'one', {
      state: 'created',
      serviceRecord: serviceRecord('PAY-1', 5),
    });
    const before = await backend.read('a');
    clock.nowMs += 10;
    expect(await claim('a', { owner: 'two' })).toEqual({ granted: false, stored: before });
    await backend.settle('a', serviceRecord('PAY-1', 4));
    expect(await backend.read('a')).toEqual(before);
  });
});

describe('a record', () => {
  it('returns the payment that prevents it, including one with an expired lease', async () => {
    const { backend, clock, claim } = open();
    expect(await backend.record({ key: 'a', intent: INTENT })).toEqual({
      key: 'a',
      intent: INTENT,
    });
    expect(await backend.record({ key: 'a', intent: OTHER })).toMatchObject({
      stored: {
        ...INTENT,
        state: 'recorded',
      },
    });
    await claim('a');
    clock.nowMs += LEASE_MS;
    expect(await backend.record({ key: 'a', intent: INTENT })).toMatchObject({
      stored: {
        state: 'unresolved',
      },
    });
  });

  it('replaces a rejected payment', async () => {
    const { backend, claim } = open();
    await claim('a');
    await backend.finish('a', 'one', REJECTED);
    expect(await backend.record({ key: 'a', intent: OTHER })).toEqual({ key: 'a', intent: OTHER });
    expect(await backend.read('a')).toMatchObject({ ...OTHER, state: 'recorded' });
  });
});

describe('what a late answer says', () => {
  it('leaves the record of a created payment, whatever its time', async () => {
    const { backend, claim } = open();
    await claim('a');
    await backend.settle('a', serviceRecord('PAY-1', 10));
    for (const atUs of [9, 10, 11, undefined]) {
      await backend.settle('a', { ...serviceRecord('PAY-1', atUs), payment: '{}' });
    }
    expect(await backend.read('a')).toMatchObject({ payment: '{"at":10}' });
  });

  it('without a number changes nothing in a created payment', async () => {
    const { backend, claim } = open();
    await claim('a');
    await backend.settle('a', serviceRecord('PAY-1', 10));
    await backend.settle('a', serviceRecord(undefined, 11));
    expect(await backend.read('a')).toMatchObject({
      referenceNumber: 'PAY-1',
      payment: '{"at":10}',
    });
  });

  it('is listed once of a second payment, with the time when it was first found', async () => {
    const { backend, clock, claim } = open();
    await claim('a');
    await backend.settle('a', serviceRecord('PAY-1', 10));
    for (const atUs of [10, 12]) {
      await backend.settle('a', serviceRecord('PAY-2', atUs));
      clock.nowMs += 1;
    }
    await backend.settle('a', { ...serviceRecord('PAY-3'), payment: undefined });
    expect(await backend.listSecond(page())).toMatchObject([
      { place: { names: ['a', 'PAY-2'], atMs: 1_000 }, payment: '{"at":10}', listedAtMs: 1_002 },
      { place: { names: ['a', 'PAY-3'], atMs: 1_002 }, payment: '{}' },
    ]);
  });
});

describe('a list', () => {
  it('orders entries of the same time by key', async () => {
    const { backend, claim } = open();
    for (const key of ['c', 'a', 'd', 'b']) await backend.record({ key: key, intent: INTENT });
    await claim('is no longer recorded');
    const keys = async (more: Partial<Page>) =>
      (await backend.list('recorded', page(more))).map(({ key }) => key);
    expect(await keys({})).toEqual(['a', 'b', 'c', 'd']);
    expect(await keys({ limit: 2 })).toEqual(['a', 'b']);
    expect(await keys({ after: { atMs: 1_000, names: ['b'] } })).toEqual(['c', 'd']);
    expect(await keys({ after: { atMs: 999, names: ['z'] } })).toEqual(['a', 'b', 'c', 'd']);
    expect(await keys({ after: { atMs: 1_001, names: [''] } })).toEqual([]);
  });

  it('includes payments that are exactly as old as asked for', async () => {
    const { backend, clock } = open();
    await backend.record({ key: 'b', intent: INTENT });
    clock.nowMs += 1;
    await backend.record({ key: 'a', intent: INTENT });
    clock.nowMs += 9;
    const keys = async (olderThanMs: number) =>
      (await backend.list('recorded', page({ olderThanMs }))).map(({ key }) => key);
    expect(await keys(9)).toEqual(['b', 'a']);
    expect(await keys(10)).toEqual(['b']);
    expect(await keys(11)).toEqual([]);
  });

  it('of unresolved payments is ordered by sentAt, and has those of which the lease has ended', async () => {
    const { backend, clock, claim } = open();
    await claim('b');
    clock.nowMs += 1;
    await claim('a');
    for (const key of ['c', 'd']) await claim(key, { leaseMs: 1_000 });
    for (const key of ['b', 'c']) await backend.finish(key, 'one', UNRESOLVED);
    clock.nowMs += LEASE_MS;
    const listed = await backend.list('unresolved', page());
    expect(listed.map(({ key, stored }) => [key, stored.state])).toEqual([
      ['b', 'unresolved'],
      ['a', 'unresolved'],
    ]);
    expect(await backend.expire()).toBe(0);
  });

  it('of second payments is ordered by foundAt, key and number', async () => {
    const { backend, clock, claim } = open();
    for (const key of ['a', 'b']) {
      await claim(key);
      await backend.settle(key, serviceRecord('PAY-1'));
    }
    for (const [key, number] of [
      ['b', 'PAY-2'],
      ['a', 'PAY-4'],
      ['a', 'PAY-3'],
    ] as const) {
      await backend.settle(key, serviceRecord(number));
    }
    clock.nowMs -= 1;
    await backend.settle('b', serviceRecord('PAY-5'));
    const all = await backend.listSecond(page());
    const names = (some: readonly SecondRow[]) => some.map(({ place }) => place.names.join(''));
    expect(names(all)).toEqual(['bPAY-5', 'aPAY-3', 'aPAY-4', 'bPAY-2']);
    expect(names(await backend.listSecond(page({ after: all[1]?.place, limit: 1 })))).toEqual([
      'aPAY-4',
    ]);
  });
});

it('stops waiting only for the callback of a payment that was created', async () => {
  const { backend, clock, claim } = open();
  await claim('a');
  await backend.finish('a', 'one', REJECTED);
  const before = await backend.read('a');
  clock.nowMs += 1;
  expect(await backend.stopWaiting('a', 1)).toBe(false);
  expect(await backend.read('a')).toEqual(before);
  expect(await backend.stopWaiting('unknown', 1)).toBe(false);
  expect(await backend.read('unknown')).toBeUndefined();
});

it('expires each lease once, and stores when', async () => {
  const { backend, clock, claim } = open();
  await claim('a');
  await backend.record({ key: 'b', intent: INTENT });
  expect(await backend.expire()).toBe(0);
  clock.nowMs += LEASE_MS;
  expect(await backend.expire()).toBe(1);
  clock.nowMs += 1;
  expect(await backend.expire()).toBe(0);
  expect(await backend.read('a')).toMatchObject({ state: 'unresolved', changedAtMs: 1_050 });
});

it('decides only about unresolved payments', async () => {
  const { backend, clock, claim } = open();
  const decide = (attempts = 1) => {
    const listed = { attempts, listedAtMs: clock.nowMs, lifetimeMs: LEASE_MS + 10 };
    return backend.decide('a', { state: 'rejected', ...listed });
  };
  expect(await decide()).toEqual({ outcome: 'unknown' });
  await claim('a');
  clock.nowMs += 1;
  expect(await decide()).toMatchObject({ outcome: 'moved-on' });
  expect(await backend.read('a')).toMatchObject({ state: 'sending', changedAtMs: 1_000 });
  clock.nowMs += LEASE_MS - 1;
  expect(await decide()).toEqual({ outcome: 'too-early', leftMs: 10 });
  clock.nowMs += 10;
  expect(await decide(2)).toMatchObject({ outcome: 'moved-on' });
  expect(await backend.read('a')).toMatchObject({ state: 'unresolved' });
  expect(await decide()).toEqual({ outcome: 'decided' });
  expect(await backend.finish('a', 'one', UNRESOLVED)).toBeUndefined();
  expect(await backend.read('a')).toMatchObject({ state: 'rejected' });
});

describe('a deleted payment', () => {
  it('is completed, and older than asked for', async () => {
    const { backend, clock, claim } = open();
    const keys = ['created', 'twice', 'rejected', 'unresolved', 'sending', 'late'];
    for (const key of keys) await claim(key);
    await backend.record({ key: 'recorded', intent: INTENT });
    await backend.settle('created', serviceRecord('PAY-1'));
    await backend.settle('twice', serviceRecord('PAY-1'));
    await backend.settle('twice', serviceRecord('PAY-2'));
    await backend.finish('rejected', 'one', REJECTED);
    await backend.finish('unresolved', 'one', UNRESOLVED);
    clock.nowMs += 1;
    await backend.finish('late', 'one', REJECTED);
    expect(await backend.prune(1_000)).toBe(0);
    expect(await backend.prune(1_001)).toBe(2);
    // A person is needed because of the second payment.
    expect(await backend.listSecond(page())).toHaveLength(1);
    for (const key of ['twice', 'unresolved', 'sending', 'late', 'recorded']) {
      expect(await backend.read(key)).toBeDefined();
    }
    for (const key of ['created', 'rejected']) expect(await backend.read(key)).toBeUndefined();
  });

  it('is the one with the oldest last change, when there are too many', async () => {
    const { backend, claim } = open(3);
    await backend.record({ key: 'recorded', intent: INTENT });
    for (const key of ['first', 'second']) {
      await claim(key);
      await backend.finish(key, 'one', REJECTED);
    }
    await backend.settle('first', serviceRecord('PAY-1'));
    expect(await backend.read('second')).toBeDefined();
    await backend.record({ key: 'new', intent: INTENT });
    expect(await backend.read('second')).toBeUndefined();
    for (const key of ['recorded', 'first', 'new']) expect(await backend.read(key)).toBeDefined();
  });

  it('is never an open one, however many there are', async () => {
    const { backend } = open(1);
    for (const key of ['a', 'b', 'c']) await backend.record({ key: key, intent: INTENT });
    for (const key of ['a', 'b', 'c']) expect(await backend.read(key)).toBeDefined();
  });
});
