import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  added,
  end,
  finished,
  type OwnedPayment,
  resolve,
  settle,
  visible,
} from '../../src/store/steps.js';
import type { StoredPayment } from '../../src/store/store.js';

const INTENT = { body: 'one body', digest: 'one' };
const FINDING = { referenceNumber: 'PAY-1', payment: '{}', updatedAtUs: 1 };

function at<Value>(nowMs: number, run: () => Value): Value {
  vi.useFakeTimers({ now: nowMs });
  try {
    return run();
  } finally {
    vi.useRealTimers();
  }
}

let stored: StoredPayment;
let owned: OwnedPayment;

beforeEach(() => {
  stored = at(1_000, () => added(INTENT));
  owned = { ...stored, owner: 'one', leaseUntilMs: 2_000, updatedAtUs: 1 };
});

it('a payment stored by a claim is sending for the first time', () => {
  expect(stored).toStrictEqual({
    ...INTENT,
    state: 'sending',
    attempts: 1,
    recordedAtMs: 1_000,
    sentAtMs: 1_000,
    changedAtMs: 1_000,
    referenceNumber: undefined,
    payment: undefined,
    failure: undefined,
  });
});

it('a finished payment has its state, its failure and the time of both', () => {
  const end = at(3_000, () => finished(stored, { state: 'rejected', failure: 'why' }));
  expect(end).toStrictEqual({ ...stored, state: 'rejected', failure: 'why', changedAtMs: 3_000 });
});

it('a created payment has the answer of the service', () => {
  const end = at(3_000, () => finished(stored, { state: 'created', finding: FINDING }));
  expect(end).toStrictEqual({
    ...stored,
    state: 'created',
    referenceNumber: 'PAY-1',
    payment: '{}',
    changedAtMs: 3_000,
  });
});

it.each([
  ['sending', 1_999],
  ['unresolved', 2_000],
] as const)('what users see of a payment is %s at %d ms, and not whose it is', (state, nowMs) => {
  expect(visible(owned, nowMs)).toStrictEqual({ ...stored, state });
});

it('a record without a number settles a payment that is not created yet', () => {
  expect(settle(owned, { ...FINDING, referenceNumber: undefined }).outcome).toBe('settled');
});

const NOT_CREATED = { state: 'rejected', failure: undefined } as const;
const CREATED = { state: 'created', finding: FINDING } as const;

describe('the decision of a person', () => {
  it.each([
    // state, nowMs (the lease ends at 2,000), decision, attempts, outcome
    ['unresolved', 1_999, NOT_CREATED, 1, 'too-early'],
    ['unresolved', 2_000, NOT_CREATED, 1, 'resolved'],
    ['unresolved', 1_999, CREATED, 1, 'resolved'],
    ['unresolved', 2_000, NOT_CREATED, 2, 'moved-on'],
    ['unresolved', 1_999, NOT_CREATED, 0, 'moved-on'],
    ['unresolved', 2_000, CREATED, 0, 'moved-on'],
    ['sending', 1_999, NOT_CREATED, 1, 'too-early'],
    ['sending', 1_999, NOT_CREATED, 2, 'moved-on'],
    ['sending', 1_999, CREATED, 1, 'moved-on'],
    ['sending', 2_000, NOT_CREATED, 1, 'resolved'],
    ['sending', 2_000, CREATED, 1, 'resolved'],
    ['recorded', 2_000, NOT_CREATED, 1, 'moved-on'],
    ['rejected', 2_000, NOT_CREATED, 1, 'moved-on'],
    ['created', 1_999, NOT_CREATED, 1, 'moved-on'],
    ['created', 2_000, CREATED, 1, 'moved-on'],
  ] as const)('on a payment that is %s at %d ms: %o with %d attempts is %s', (...row) => {
    const [state, nowMs, decision, attempts, outcome] = row;
    const { decided, change } = resolve({ ...owned, state }, decision, attempts, nowMs);
    expect(decided.outcome).toBe(outcome);
    expect(change).toEqual(outcome === 'resolved' ? end(decision) : undefined);
  });

  it('that is too early may come when the lease has ended', () => {
    const { decided } = resolve(owned, NOT_CREATED, 1, 1_250);
    expect(decided).toEqual({ outcome: 'too-early', leftMs: 750 });
  });

  it('on a payment that has moved on is answered with what is stored', () => {
    const { decided } = resolve(owned, NOT_CREATED, 2, 2_000);
    expect(decided).toEqual({ outcome: 'moved-on', stored: { ...stored, state: 'unresolved' } });
  });

  it('is allowed where no lease is stored', () => {
    const row = { ...owned, state: 'unresolved', leaseUntilMs: undefined } as const;
    expect(resolve(row, NOT_CREATED, 1, 1_000).decided).toEqual({ outcome: 'resolved' });
  });
});

it.each([
  ['unresolved', 2_000],
  ['recorded', undefined],
  ['rejected', undefined],
] as const)('an attempt that ends as %s leaves the lease at %o', (state, leaseUntilMs) => {
  expect({ ...owned, ...end({ state, failure: undefined }) }).toMatchObject({
    state,
    owner: undefined,
    leaseUntilMs,
  });
});
