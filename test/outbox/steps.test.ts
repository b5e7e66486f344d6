import { beforeEach, expect, it, vi } from 'vitest';
import { added, finished, type OwnedPayment, settle, visible } from '../../src/outbox/steps.js';
import type { StoredPayment } from '../../src/outbox/store.js';

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
