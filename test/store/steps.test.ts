import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { NotCreated, PaymentRow, ServiceRecord } from '../../src/store/payment-row.js';
import { added, finished } from '../../src/store/sql/sql-backend.js';
import {
  claim,
  decide,
  end,
  isDue,
  type Known,
  look,
  type OwnedRow,
  record,
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
  stored = at(1_000, () =>
    added(
      { key: 'one', intent: INTENT, owner: 'one', allowsRejected: true, leaseMs: 1_000 },
      INTENT,
    ),
  );
  const unknown = { paidBy: undefined, lookAtMs: undefined };
  owned = { ...stored, owner: 'one', leaseUntilMs: 2_000, updatedAtUs: 1, ...unknown };
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
    foundStatus: undefined,
    failure: undefined,
    order: undefined,
    replacedBy: undefined,
  });
});

it('a finished payment has its state, its failure and the time of both', () => {
  const end = at(3_000, () => finished(stored, { state: 'rejected', failure: 'why' }));
  expect(end).toStrictEqual({ ...stored, state: 'rejected', failure: 'why', changedAtMs: 3_000 });
});

it('a created payment has the answer of the service', () => {
  const end = at(3_000, () => finished(stored, { state: 'created', serviceRecord: FINDING }));
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

const KNOWN: Settleable = {
  state: 'created',
  referenceNumber: 'PAY-1',
  payment: '{"status":"pending"}',
  updatedAtUs: 5,
  paidBy: undefined,
};
const NEW: Known = { isOld: false, second: undefined };
const OLD: Known = { isOld: true, second: undefined };
const ELSEWHERE = { ...KNOWN, state: 'elsewhere' } as const;
const at6 = (fields: Partial<ServiceRecord> = {}): ServiceRecord => ({
  ...FINDING,
  updatedAtUs: 6,
  ...fields,
});
const told = (isPaid: boolean, fields?: Partial<ServiceRecord>) => ({
  isPaid,
  serviceRecord: at6(fields),
});

describe('what a callback makes of an order', () => {
  it('leaves what a look has found if it is a late answer, which is no callback', () => {
    const answer = told(false, { updatedAtUs: undefined });
    const missed: Settleable = { ...KNOWN, state: 'missed' };
    expect(settle(missed, answer, OLD).change).toMatchObject({ state: 'missed' });
    expect(settle({ ...KNOWN, state: 'unheard' }, answer, OLD).change).toMatchObject({
      state: 'unheard',
    });
    expect(settle(missed, told(false), NEW).change).toMatchObject({ state: 'created' });
  });

  it('does not list a discarded second payment again if its change was processed before', () => {
    const paid = told(true, { referenceNumber: 'PAY-2' });
    const row = { ...KNOWN, paidBy: 'PAY-1' };
    expect(settle(row, paid, OLD).list).toBe('add');
    expect(settle(row, paid, { ...OLD, isProcessed: true }).list).toBeUndefined();
  });

  it('without a number is settled if the payment is not created yet', () => {
    const answer = told(false, { referenceNumber: undefined });
    expect(settle(owned, answer, OLD).change).toMatchObject({ state: 'created' });
    const nothing = { isSecond: false, change: undefined, list: undefined };
    expect(settle(KNOWN, answer, OLD)).toEqual(nothing);
  });

  it.each<[string, Partial<Settleable> | undefined, boolean, boolean, object | undefined]>([
    ['nothing stored', undefined, false, false, at6()],
    ['nothing stored', undefined, true, false, { ...at6(), paidBy: 'PAY-1' }],
    ['elsewhere', ELSEWHERE, true, false, { ...at6(), paidBy: 'PAY-1' }],
    ['elsewhere, empty', { ...ELSEWHERE, referenceNumber: undefined }, false, false, at6()],
    ['elsewhere, newer', { ...ELSEWHERE, updatedAtUs: 7 }, false, false, undefined],
    ['elsewhere, of another', { ...ELSEWHERE, referenceNumber: 'X' }, false, false, at6()],
    [
      'elsewhere, paid by another',
      { ...ELSEWHERE, referenceNumber: 'X', paidBy: 'X' },
      false,
      false,
      undefined,
    ],
    [
      'elsewhere, paid by another',
      { ...ELSEWHERE, referenceNumber: 'X', paidBy: 'X' },
      true,
      true,
      undefined,
    ],
    ['recorded', { state: 'recorded' }, false, false, { state: 'created' }],
    ['sending', { state: 'sending' }, true, false, { state: 'created', paidBy: 'PAY-1' }],
    ['rejected', { state: 'rejected' }, false, false, { state: 'created' }],
    ['unresolved, paid', { state: 'unresolved', paidBy: 'X' }, true, true, { state: 'created' }],
    ['unheard', { state: 'unheard' }, false, false, { state: 'created' }],
    ['missed', { state: 'missed' }, false, false, { state: 'created' }],
    ['known', {}, false, false, { state: 'created', updatedAtUs: 6 }],
    ['known, newer', { updatedAtUs: 7 }, true, false, { paidBy: 'PAY-1' }],
    ['known, newer', { updatedAtUs: 7 }, false, false, undefined],
    ['known, paid', { paidBy: 'X' }, false, false, { updatedAtUs: 6 }],
    ['known, paid', { paidBy: 'X' }, true, true, { updatedAtUs: 6 }],
    ['number lost', { referenceNumber: undefined }, false, false, { referenceNumber: 'PAY-1' }],
    ['another', { referenceNumber: 'X' }, true, true, { paidBy: 'PAY-1' }],
    ['another', { referenceNumber: 'X' }, false, true, undefined],
  ])('%s: %o, told of paid %s, has a second payment: %s', (_, row, isPaid, isSecond, change) => {
    const settled = settle(row && { ...KNOWN, ...row }, told(isPaid), NEW);
    expect(settled.isSecond).toBe(isSecond);
    if (change === undefined) expect(settled.change).toBeUndefined();
    else expect(settled.change).toMatchObject(change);
    // Only the first payment that is paid pays the order.
    if (!('paidBy' in (change ?? {}))) expect(settled.change ?? {}).not.toHaveProperty('paidBy');
  });

  it.each<[string, Partial<Settleable> | undefined, boolean]>([
    ['nothing stored', undefined, true],
    ['elsewhere', { state: 'elsewhere' }, false],
    ['elsewhere, of another', { state: 'elsewhere', referenceNumber: 'X' }, false],
    ['unresolved', { state: 'unresolved' }, true],
    ['known', {}, false],
  ])('again, or behind a newer change, says nothing new of what is known: %s', (_, row, isNew) => {
    const settled = settle(row && { ...KNOWN, ...row }, told(false), OLD);
    expect(settled.change !== undefined).toBe(isNew);
  });

  it.each([
    ['paid', false, false],
    ['paid', true, true],
    ['pending', false, true],
  ])('of the instant of a stored %s, told of paid %s, is its record: %s', (status, ...rest) => {
    const [isPaid, isRecord] = rest;
    const row = { ...KNOWN, payment: JSON.stringify({ status }), updatedAtUs: 6, paidBy: 'PAY-1' };
    for (const state of ['created', 'elsewhere'] as const) {
      const { change } = settle({ ...row, state }, told(isPaid), NEW);
      expect(change !== undefined).toBe(isRecord);
    }
    const second = { payment: row.payment, updatedAtUs: 6 };
    const other = { ...KNOWN, referenceNumber: 'X', paidBy: 'X' };
    const { list } = settle(other, told(isPaid), { isOld: false, second });
    expect(list).toBe(isRecord ? 'update' : undefined);
  });

  it.each([
    [undefined, false, 'add'],
    [undefined, true, 'add'],
    [5, false, 'update'],
    [5, true, undefined],
    [7, false, undefined],
  ] as const)('lists a second payment, listed with the time %s, old %s: %s', (...row) => {
    const [updatedAtUs, isOld, list] = row;
    const second = updatedAtUs && { payment: '{}', updatedAtUs };
    const other = { ...KNOWN, referenceNumber: 'X' };
    expect(settle(other, told(true), { isOld, second: second || undefined }).list).toBe(list);
  });
});

describe('the end of an attempt', () => {
  it('waits for a callback unless one has settled it', () => {
    const created = (updatedAtUs: number | undefined) =>
      end({ state: 'created', serviceRecord: { ...FINDING, updatedAtUs } }).state;
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
  const wanted = { owner: 'two', allowsRejected: false, leaseMs: 10 };
  const row = (referenceNumber: string | undefined): OwnedRow => {
    const known = { state: 'elsewhere', attempts: 0, recordedAtMs: 1, referenceNumber } as const;
    return { ...owned, ...known };
  };

  it('of which none has told is claimed and recorded as one that is new', () => {
    const begun = { ...INTENT, recordedAtMs: 3_000 };
    expect(claim(row(undefined), { ...wanted, intent: INTENT }, 3_000)).toMatchObject({
      ...begun,
      state: 'sending',
      attempts: 1,
      sentAtMs: 3_000,
      leaseUntilMs: 3_010,
    });
    expect(record(row(undefined), INTENT, 3_000)).toEqual({ ...begun, state: 'recorded' });
    expect(claim(row(undefined), { ...wanted, intent: undefined }, 3_000)).toBeUndefined();
    expect(decide(row(undefined), notCreated(0, 3_000), 3_000)).toEqual({
      decided: { outcome: 'unknown' },
    });
    expect(visible(row(undefined), 3_000)).toBeUndefined();
  });

  it('with a payment is created, and not sent', () => {
    for (const intent of [INTENT, undefined]) {
      expect(claim(row('PAY-1'), { ...wanted, intent }, 3_000)).toBeUndefined();
    }
    expect(record(row('PAY-1'), INTENT, 3_000)).toBeUndefined();
    expect(visible(row('PAY-1'), 3_000)).toMatchObject({ state: 'created', attempts: 0 });
    const { decided } = decide(row('PAY-1'), notCreated(0, 3_000), 3_000);
    expect(decided.outcome).toBe('moved-on');
  });
});

const LIFETIME_MS = 4_000;
const CREATED = { state: 'created', serviceRecord: FINDING } as const;
const notCreated = (attempts: number, listedAtMs: number): NotCreated => ({
  state: 'rejected',
  attempts,
  listedAtMs,
  lifetimeMs: LIFETIME_MS,
});

describe('a decision', () => {
  it.each([
    // It was sent at 1,000. state, attempts, listedAtMs, nowMs, outcome
    ['unresolved', 1, 4_999, 4_999, 'too-early'],
    ['unresolved', 1, 4_999, 9_000, 'too-early'],
    ['unresolved', 1, 9_000, 4_999, 'too-early'],
    ['unresolved', 1, 5_000, 5_000, 'decided'],
    ['unresolved', 2, 5_000, 5_000, 'moved-on'],
    ['unresolved', 0, 4_999, 4_999, 'moved-on'],
    ['sending', 1, 1_999, 1_999, 'moved-on'],
    ['sending', 1, 4_999, 4_999, 'too-early'],
    ['sending', 1, 5_000, 5_000, 'decided'],
    ['unheard', 1, 4_999, 4_999, 'too-early'],
    ['unheard', 1, 5_000, 5_000, 'decided'],
    ['missed', 1, 5_000, 5_000, 'decided'],
    ['unheard', 2, 5_000, 5_000, 'moved-on'],
    ['recorded', 1, 5_000, 5_000, 'moved-on'],
    ['rejected', 1, 5_000, 5_000, 'moved-on'],
    ['created', 1, 5_000, 5_000, 'moved-on'],
  ] as const)(
    'that a payment that is %s with %d attempts, listed at %d ms, does not exist is, at %d ms, %s',
    (...row) => {
      const [state, attempts, listedAtMs, nowMs, outcome] = row;
      const known = { ...owned, state, referenceNumber: 'PAY-1', payment: '{}' };
      const { decided, change } = decide(known, notCreated(attempts, listedAtMs), nowMs);
      expect(decided.outcome).toBe(outcome);
      expect(change).toEqual(
        outcome === 'decided'
          ? {
              state: 'rejected',
              failure: undefined,
              owner: undefined,
              leaseUntilMs: undefined,
              referenceNumber: undefined,
              payment: undefined,
              updatedAtUs: undefined,
              foundStatus: undefined,
            }
          : undefined,
      );
    },
  );

  it.each([
    ['unresolved', 1_999, 'decided'],
    ['sending', 1_999, 'moved-on'],
    ['sending', 2_000, 'decided'],
    ['created', 2_000, 'moved-on'],
    ['unheard', 2_000, 'moved-on'],
  ] as const)('that a payment that is %s exists is at %d ms %s', (state, nowMs, outcome) => {
    const { decided, change } = decide({ ...owned, state }, CREATED, nowMs);
    expect(decided.outcome).toBe(outcome);
    expect(change).toEqual(outcome === 'decided' ? end(CREATED) : undefined);
  });

  it('by recover leaves a created payment alone', () => {
    const again = { ...notCreated(1, 5_000), state: 'recorded' } as const;
    expect(decide({ ...owned, state: 'unheard' }, again, 5_000).decided.outcome).toBe('moved-on');
    const { change } = decide({ ...owned, state: 'unresolved' }, again, 5_000);
    expect(change).toMatchObject({ state: 'recorded', leaseUntilMs: undefined });
  });

  it('waits for the longer of lease and lifetime, and says how long', () => {
    const row = { ...owned, state: 'unresolved', leaseUntilMs: 7_000 } as const;
    const { decided } = decide(row, notCreated(1, 6_250), 6_250);
    expect(decided).toEqual({ outcome: 'too-early', leftMs: 750 });
    expect(decide(row, notCreated(1, 6_250), 8_000).decided).toEqual({
      outcome: 'too-early',
      leftMs: 0,
    });
    const none = { ...row, leaseUntilMs: undefined };
    expect(decide(none, notCreated(1, 5_000), 5_000).decided).toEqual({ outcome: 'decided' });
  });

  it('on a payment that has moved on is answered with what is stored', () => {
    const { decided } = decide(owned, notCreated(2, 9_000), 9_000);
    expect(decided).toEqual({ outcome: 'moved-on', stored: { ...stored, state: 'unresolved' } });
  });
});

describe('a look at the service', () => {
  const found = (status: string | undefined, attempts = 1) => ({ attempts, status });

  it.each([
    ['unresolved', 'unresolved', 1_000, undefined, true],
    ['unresolved', 'waiting', 9_000, undefined, false],
    ['sending', 'unresolved', 1_999, undefined, false],
    ['sending', 'unresolved', 2_000, undefined, true],
    ['created', 'waiting', 9_000, undefined, false],
    ['unheard', 'unresolved', 9_000, undefined, false],
    ['unheard', 'waiting', 4_999, undefined, false],
    ['unheard', 'waiting', 5_000, undefined, true],
    ['missed', 'waiting', 9_000, 9_001, false],
    ['missed', 'waiting', 9_000, 9_000, true],
    ['unresolved', 'unresolved', 9_000, 9_001, false],
  ] as const)(
    'is due of a payment that is %s among those that are %s at %d ms, next at %s: %s',
    (...row) => {
      const [state, kind, nowMs, lookAtMs, isNow] = row;
      expect(isDue({ ...owned, state, lookAtMs }, kind, LIFETIME_MS, nowMs)).toBe(isNow);
    },
  );

  it('is repeated when the time since the claim has doubled', () => {
    for (const state of ['unresolved', 'unheard', 'missed'] as const) {
      const row = { ...owned, state };
      expect(look(row, found(undefined), 6_000)).toEqual({ lookAtMs: 11_000, changedAtMs: 1_000 });
      expect(look(row, found(undefined, 2), 6_000)).toBeUndefined();
    }
    for (const state of ['created', 'rejected', 'recorded', 'elsewhere'] as const) {
      expect(look({ ...owned, state }, found('paid'), 6_000)).toBeUndefined();
    }
  });

  it('keeps a status of which a callback should have told', () => {
    const row = { ...owned, state: 'unheard', payment: '{"status":"pending"}' } as const;
    expect(look(row, found('paid'), 6_000)).toMatchObject({
      state: 'missed',
      foundStatus: '"paid"',
    });
    const again = look({ ...row, state: 'missed', foundStatus: '"paid"' }, found('pending'), 6_000);
    expect(again).toMatchObject({ state: 'unheard', foundStatus: undefined });
    const unresolved = look({ ...row, state: 'unresolved' }, found('paid'), 6_000);
    expect(unresolved).not.toHaveProperty('state');
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
