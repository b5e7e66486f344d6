import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Finding, PaymentRow } from '../../src/store/payment-row.js';
import {
  added,
  claim,
  end,
  finished,
  type Known,
  type OwnedRow,
  record,
  resolve,
  type Settleable,
  settle,
  visible,
} from '../../src/store/steps.js';

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

let stored: PaymentRow;
let owned: OwnedRow;

beforeEach(() => {
  stored = at(1_000, () => added(INTENT));
  owned = { ...stored, owner: 'one', leaseUntilMs: 2_000, updatedAtUs: 1, paidBy: undefined };
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

const NOTHING = { isPaid: false, isListed: false };
const PAID = { isPaid: true, isListed: false };
const KNOWN = {
  state: 'created',
  referenceNumber: 'PAY-1',
  updatedAtUs: 5,
  paidBy: undefined,
} as const;
const at1 = (fields: Partial<Finding> = {}): Finding => ({ ...FINDING, updatedAtUs: 6, ...fields });

describe('what a callback makes of an order', () => {
  it('without a number is settled if the payment is not created yet', () => {
    const finding = { ...FINDING, referenceNumber: undefined };
    expect(settle(owned, finding, NOTHING).outcome).toBe('settled');
    expect(settle(KNOWN, finding, NOTHING)).toEqual({ outcome: 'known', change: undefined });
  });

  it.each<[string, Partial<Settleable> | undefined, Partial<Finding>, Known, string, object]>([
    ['nothing stored', undefined, {}, NOTHING, 'elsewhere', {}],
    ['nothing stored', undefined, {}, PAID, 'elsewhere', { paidBy: 'PAY-1' }],
    ['elsewhere', { state: 'elsewhere' }, {}, PAID, 'elsewhere', { paidBy: 'PAY-1' }],
    ['elsewhere, paid', { state: 'elsewhere', paidBy: 'PAY-1' }, {}, PAID, 'elsewhere', {}],
    ['elsewhere, paid', { state: 'elsewhere', paidBy: 'X' }, {}, NOTHING, 'elsewhere', {}],
    ['elsewhere, paid', { state: 'elsewhere', paidBy: 'X' }, {}, PAID, 'second-payment', {}],
    [
      'elsewhere, listed',
      { state: 'elsewhere', paidBy: 'X' },
      {},
      { isPaid: false, isListed: true },
      'second-payment',
      {},
    ],
    ['recorded', { state: 'recorded' }, {}, NOTHING, 'settled', { state: 'created' }],
    ['sending', { state: 'sending' }, {}, PAID, 'settled', { state: 'created', paidBy: 'PAY-1' }],
    ['rejected', { state: 'rejected' }, {}, NOTHING, 'settled', { state: 'created' }],
    [
      'unresolved, paid',
      { state: 'unresolved', paidBy: 'X' },
      {},
      PAID,
      'second-payment',
      { state: 'created' },
    ],
    [
      'unheard',
      { state: 'unheard', updatedAtUs: undefined },
      {},
      NOTHING,
      'settled',
      { state: 'created' },
    ],
    ['known', {}, {}, NOTHING, 'known', { state: 'created', updatedAtUs: 6 }],
    ['known, newer', { updatedAtUs: 7 }, {}, PAID, 'known', { paidBy: 'PAY-1' }],
    ['known, paid', { paidBy: 'X' }, {}, NOTHING, 'known', { updatedAtUs: 6 }],
    ['known, paid', { paidBy: 'X' }, {}, PAID, 'second-payment', { updatedAtUs: 6 }],
    [
      'number lost',
      { referenceNumber: undefined },
      {},
      NOTHING,
      'settled',
      { referenceNumber: 'PAY-1' },
    ],
    ['another', { referenceNumber: 'X' }, {}, PAID, 'second-payment', { paidBy: 'PAY-1' }],
  ])('%s: %o and %o with %o is %s', (_, row, finding, known, outcome, change) => {
    const settled = settle(row && { ...KNOWN, ...row }, at1(finding), known);
    expect(settled.outcome).toBe(outcome);
    expect(settled.change).toMatchObject(change);
    // Only the first payment that is paid pays the order.
    if (!('paidBy' in change)) expect(settled.change).not.toHaveProperty('paidBy');
  });

  it('changes nothing but who has paid if it is of another payment, or older', () => {
    expect(settle({ ...KNOWN, referenceNumber: 'X' }, at1(), NOTHING).change).toBeUndefined();
    expect(settle({ ...KNOWN, updatedAtUs: 7 }, at1(), NOTHING).change).toBeUndefined();
  });
});

describe('the end of an attempt', () => {
  it('waits for a callback unless one has settled it', () => {
    const created = (updatedAtUs: number | undefined) =>
      end({ state: 'created', finding: { ...FINDING, updatedAtUs } }).state;
    expect(created(undefined)).toBe('unheard');
    expect(created(0)).toBe('created');
  });
});

describe('a claim that is made again, because its answer was lost', () => {
  const again = { intent: INTENT, owner: 'one', allowsRejected: false, leaseMs: 10 };

  it('is granted again to its owner, and is still one attempt', () => {
    expect(claim(owned, again, 1_500)).toMatchObject({
      state: 'sending',
      owner: 'one',
      attempts: 1,
      sentAtMs: 1_500,
      leaseUntilMs: 1_510,
    });
  });

  it('is not granted to another owner, or of a payment that is no longer sending', () => {
    expect(claim(owned, { ...again, owner: 'two' }, 1_500)).toBeUndefined();
    for (const state of ['unresolved', 'created', 'unheard', 'rejected'] as const) {
      expect(claim({ ...owned, state }, again, 1_500)).toBeUndefined();
    }
  });
});

describe('a claim to repeat what is unresolved', () => {
  const wanted = { intent: undefined, owner: 'two', allowsRejected: false, leaseMs: 10 };
  const repeated = { ...wanted, isRepetition: true };
  const unresolved = (): OwnedRow => ({ ...owned, state: 'unresolved' });

  it('is granted once the lease of the last attempt is over, and only to one', () => {
    expect(claim(unresolved(), repeated, 1_999)).toBeUndefined();
    const granted = claim(unresolved(), repeated, 2_000);
    expect(granted).toMatchObject({ state: 'sending', owner: 'two', attempts: 2 });
    expect(granted).toMatchObject({ leaseUntilMs: 2_010 });
    expect(claim({ ...unresolved(), ...granted }, { ...repeated, owner: 'three' }, 2_000)).toBe(
      undefined,
    );
  });

  it('is granted of nothing else, and what is unresolved to no other claim', () => {
    for (const state of ['recorded', 'rejected', 'created', 'unheard', 'elsewhere'] as const) {
      expect(claim({ ...owned, state }, { ...repeated, allowsRejected: true }, 2_000)).toBe(
        undefined,
      );
    }
    expect(claim(unresolved(), wanted, 2_000)).toBeUndefined();
    expect(claim(unresolved(), { ...wanted, intent: INTENT }, 2_000)).toBeUndefined();
  });
});

describe('an order that is known only from callbacks', () => {
  const row = () => ({ ...owned, state: 'elsewhere' as const, attempts: 0, recordedAtMs: 1 });
  const wanted = { owner: 'two', allowsRejected: false, leaseMs: 10 };

  it('is claimed and recorded as one that is new, and keeps who has paid it', () => {
    const begun = { ...INTENT, recordedAtMs: 3_000 };
    expect(claim(row(), { ...wanted, intent: INTENT }, 3_000)).toMatchObject({
      ...begun,
      state: 'sending',
      attempts: 1,
      sentAtMs: 3_000,
      leaseUntilMs: 3_010,
    });
    expect(record(row(), INTENT, 3_000)).toEqual({ ...begun, state: 'recorded' });
  });

  it('is not sent, resolved or shown', () => {
    expect(claim(row(), { ...wanted, intent: undefined }, 3_000)).toBeUndefined();
    expect(resolve(row(), NOT_CREATED, 0, 3_000)).toEqual({ decided: { outcome: 'unknown' } });
    expect(visible(row(), 3_000)).toBeUndefined();
  });
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
