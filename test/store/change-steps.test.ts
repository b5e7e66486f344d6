import { describe, expect, it } from 'vitest';
import { RetryLaterError, StoreError } from '../../src/errors.js';
import { readChange } from '../../src/store/change.js';
import {
  decideChange,
  failureOf,
  isOfAnother,
  type SeenChange,
  saysSomethingNew,
} from '../../src/store/change-steps.js';
import type { FailurePolicy } from '../../src/store/failure.js';
import { memoryStore } from '../../src/store/memory.js';
import { databaseForms } from '../../src/store/sql/sql.js';
import { seconds } from '../contract/store/changes.js';
import { collect } from '../contract/store/stage.js';
import { changeOf } from './orders.js';
import { outcomeOf } from './outcome-of.js';

const NOTHING: SeenChange = {
  row: undefined,
  isProcessed: false,
  newest: undefined,
  failure: undefined,
  second: undefined,
};
const PARKED = { attempts: 1, parked: true };
const FAILED = { attempts: 3, parked: false };

const read = (fields: Parameters<typeof changeOf>[0] = {}) =>
  readChange(changeOf(fields), databaseForms);
const newer = read({ updatedAt: seconds(0, 1) }).rank;
const same = read().rank;

describe('the action on a change', () => {
  it.each<[string, Partial<SeenChange>, FailurePolicy, string]>([
    ['new', {}, {}, 'run'],
    ['processed', { isProcessed: true }, {}, 'duplicate'],
    ['processed and older', { isProcessed: true, newest: newer }, {}, 'duplicate'],
    ['processed and parked', { isProcessed: true, failure: PARKED }, {}, 'duplicate'],
    ['older', { newest: newer }, {}, 'run'],
    ['older and parked', { newest: newer, failure: PARKED }, {}, 'parked'],
    ['of the same time', { newest: same }, {}, 'run'],
    ['failed', { failure: FAILED }, { parkAfter: 1 }, 'run'],
    ['parked', { failure: PARKED }, {}, 'parked'],
    ['parked and replayed', { failure: PARKED }, { runParked: true }, 'run'],
  ])('that is %s: %o with %o is %s', (_, seen, failures, action) => {
    expect(decideChange({ ...NOTHING, ...seen }, read({ failures })).action).toBe(action);
  });

  it('that is older than a processed one leaves the watermark where it is', () => {
    const decision = decideChange({ ...NOTHING, newest: newer }, read());
    expect(decision).toMatchObject({ action: 'run', current: false, newest: newer });
  });

  it('compares times of more digits than a number holds', () => {
    const newest = '10000000000000000';
    const decision = decideChange({ ...NOTHING, newest }, { ...read(), rank: '9999999999999999' });
    expect(decision.current).toBe(false);
  });
});

describe('whether a change is current', () => {
  const row = {
    state: 'elsewhere',
    referenceNumber: undefined,
    payment: undefined,
    updatedAtUs: undefined,
  } as const;
  it.each([
    [undefined, 'authorized', true, false],
    [undefined, 'paid', true, false],
    ['payment-1', 'refunded', true, false],
    ['payment-1', 'paid', true, false],
    ['payment-2', 'refunded', false, false],
    ['payment-2', 'paid', false, true],
  ])('with an order paid by %s: %s is %s', (paidBy, status, current, secondPayment) => {
    const seen = { ...NOTHING, row: { ...row, paidBy } };
    expect(decideChange(seen, read({ status }))).toMatchObject({ current, secondPayment });
  });
});

describe('a change of the instant of a stored paid', () => {
  const at = read().serviceRecord.updatedAtUs;
  const paid = { payment: '{"status":"paid"}', updatedAtUs: at };
  const row = { state: 'created', referenceNumber: 'payment-1', paidBy: 'payment-1' } as const;

  it.each([
    ['authorized', paid, undefined, false],
    ['paid', paid, undefined, true],
    ['authorized', { ...paid, payment: '{"status":"captured"}' }, undefined, true],
    ['authorized', { ...paid, updatedAtUs: Number(at) - 1 }, undefined, true],
    ['authorized', { payment: '{}', updatedAtUs: 0 }, paid, false],
  ])('as %s beside %o, listed as %o, is current: %s', (status, record, second, current) => {
    const seen = { ...NOTHING, row: { ...row, ...record }, second };
    expect(decideChange(seen, read({ status })).current).toBe(current);
  });
});

describe('what a store learns whatever becomes of the work', () => {
  const known = {
    state: 'created',
    referenceNumber: 'payment-1',
    payment: '{}',
    updatedAtUs: read().serviceRecord.updatedAtUs,
    paidBy: undefined,
  } as const;
  it.each<[string, SeenChange['row'], string, boolean]>([
    ['the payment of an order elsewhere', undefined, 'authorized', true],
    ['the status of a known payment', known, 'authorized', true],
    ['nothing of a newer record', { ...known, updatedAtUs: 2 ** 52 }, 'authorized', false],
    ['who has paid', { ...known, updatedAtUs: 2 ** 52 }, 'paid', true],
    ['that a payment exists', { ...known, state: 'unresolved' }, 'authorized', true],
    ['that a callback has come', { ...known, state: 'unheard' }, 'authorized', true],
    ['a second payment', { ...known, referenceNumber: 'another' }, 'authorized', true],
  ])('is %s', (_, row, status, expected) => {
    expect(saysSomethingNew(decideChange({ ...NOTHING, row }, read({ status })))).toBe(expected);
  });
});

describe('the failure that is stored', () => {
  const FIRST = { failure: undefined };
  const keep = (
    policy: FailurePolicy,
    decision: Parameters<typeof failureOf>[1] = FIRST,
    error: unknown = new TypeError('broken'),
  ) => failureOf(read({ failures: policy }), decision, error);

  it('has why the work failed, and no body that is not known', () => {
    expect(keep({})).toStrictEqual({
      attempts: 1,
      parked: false,
      parkedAfter: undefined,
      error: '{"name":"TypeError","message":"broken"}',
      rawBody: undefined,
    });
  });

  it.each([
    ['asks to retry later', new RetryLaterError()],
    ['has a cause that asks to', new Error('by an ORM', { cause: new RetryLaterError() })],
    ['is that a replay is impossible', new StoreError('REPLAY_IMPOSSIBLE', 'no body')],
  ])('is none when the error %s', (_, error) => {
    expect(keep({ parkAfter: 1 }, FIRST, error)).toBeUndefined();
  });

  it.each<[number | undefined, typeof FAILED | undefined, number, boolean, boolean]>([
    [undefined, FAILED, 4, false, false],
    [4, FAILED, 4, true, true],
    [5, FAILED, 4, false, false],
    [1, undefined, 1, true, true],
    [2, FAILED, 4, true, true],
    [1, PARKED, 2, true, false],
    [undefined, PARKED, 2, true, false],
  ])('with parkAfter %s after %o has %s attempts, parked %s', (parkAfter, failure, ...expected) => {
    const [attempts, parked, isNewlyParked] = expected;
    const kept = keep({ parkAfter }, { failure });
    const parkedAfter = isNewlyParked ? attempts : undefined;
    expect(kept).toMatchObject({ attempts, parked, parkedAfter });
  });

  it('is described by the policy, and has its body', () => {
    const described = { name: 'Described', message: 'by the policy' };
    const bytes = Buffer.from('..body..').subarray(2, 6);
    const kept = keep({ describeError: () => described, getRawBody: () => bytes });
    expect(kept).toMatchObject({ error: JSON.stringify(described), rawBody: bytes });
  });
});

describe('work that fails', () => {
  const broken = new Error('a secret');

  it('is described by the policy as it was at the delivery', async () => {
    const store = memoryStore();
    const described = { name: 'Described', message: 'by the policy' };
    const change = changeOf({ failures: { describeError: () => described } });
    const delivery = outcomeOf(store, change, () => Promise.reject(broken));
    change.failures = undefined;
    await expect(delivery).rejects.toBe(broken);
    expect(await collect(store.attention())).toMatchObject([{ error: described }]);
  });

  it('is described by the methods of a policy that is an object of a class', async () => {
    class Policy {
      readonly name = 'Described';
      describeError() {
        return { name: this.name, message: 'by its class' };
      }
    }
    const store = memoryStore();
    const change = changeOf({ failures: new Policy() });
    await expect(outcomeOf(store, change, () => Promise.reject(broken))).rejects.toBe(broken);
    const error = { name: 'Described', message: 'by its class' };
    expect(await collect(store.attention())).toMatchObject([{ error }]);
  });

  it('that is parked is reported once', async () => {
    const store = memoryStore();
    const fail = (runParked: boolean) =>
      store.process(changeOf({ failures: { parkAfter: 2, runParked } }), () =>
        Promise.reject(broken),
      );
    const error = broken;
    expect(await fail(false)).toStrictEqual({ outcome: 'failed', error, parkedAfter: undefined });
    expect(await fail(false)).toStrictEqual({ outcome: 'failed', error, parkedAfter: 2 });
    expect(await fail(false)).toStrictEqual({ outcome: 'parked' });
    expect(await fail(true)).toStrictEqual({ outcome: 'failed', error, parkedAfter: undefined });
  });
});

describe('a change of another payment than the order has', () => {
  it.each<[string, { referenceNumber?: string; paidBy?: string } | undefined, boolean]>([
    ['no row', undefined, false],
    ['a row without a payment', {}, false],
    ['its own payment', { referenceNumber: 'mine', paidBy: 'mine' }, false],
    ['another payment', { referenceNumber: 'other' }, true],
    ['its own payment, and paid by another', { referenceNumber: 'mine', paidBy: 'other' }, true],
    ['another payment, and paid by its own', { referenceNumber: 'other', paidBy: 'mine' }, true],
    ['no payment, and paid by another', { paidBy: 'other' }, true],
  ])('with %s', (_, known, isOther) => {
    const row = known && {
      state: 'created' as const,
      payment: undefined,
      updatedAtUs: undefined,
      ...NO_NUMBERS,
      ...known,
    };
    expect(isOfAnother(row, { referenceNumber: 'mine' })).toBe(isOther);
    // Until one has paid an order that the store did not create, each of its payments is the order's.
    const elsewhere = row && { ...row, state: 'elsewhere' as const };
    expect(isOfAnother(elsewhere, { referenceNumber: 'mine' })).toBe(known?.paidBy === 'other');
  });
});

const NO_NUMBERS = { referenceNumber: undefined, paidBy: undefined };
