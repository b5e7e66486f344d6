import { describe, expect, it } from 'vitest';
import {
  parseFailedRow,
  parseOne,
  parseOwnedRow,
  parseSecond,
  parseSecondRow,
  parseSeenChange,
} from '../../src/store/sql/rows.js';

const visible = ['key', '{}', 'digest', 'sending', 2, 1000, 2000, 3000];
const found = ['PAY-1', '{"a":1}', 'paid'];
const row = [
  ...visible,
  ...found,
  'failed',
  'owner',
  4000,
  5,
  'PAY-2',
  7000,
  '"order-1"',
  '"order-3"',
  6000,
];
const stored = {
  body: '{}',
  digest: 'digest',
  state: 'sending',
  attempts: 2,
  recordedAtMs: 1000,
  sentAtMs: 2000,
  changedAtMs: 3000,
  referenceNumber: 'PAY-1',
  payment: '{"a":1}',
  foundStatus: 'paid',
  failure: 'failed',
};

describe('a row of payments', () => {
  it('is read with the fields that only the store sees', () => {
    expect(parseOwnedRow(JSON.stringify(row))).toEqual({
      key: 'key',
      row: {
        ...stored,
        owner: 'owner',
        leaseUntilMs: 4000,
        updatedAtUs: 5,
        paidBy: 'PAY-2',
        lookAtMs: 7000,
        order: '"order-1"',
        replacedBy: '"order-3"',
      },
      nowMs: 6000,
    });
  });

  it('lacks what is null', () => {
    const nothing = [...row.slice(0, 6), null, 3000, ...Array(11).fill(null), 6000];
    const { row: read } = parseOwnedRow(JSON.stringify(nothing));
    expect(read).toEqual({
      ...stored,
      sentAtMs: undefined,
      referenceNumber: undefined,
      payment: undefined,
      foundStatus: undefined,
      failure: undefined,
      owner: undefined,
      leaseUntilMs: undefined,
      updatedAtUs: undefined,
      paidBy: undefined,
      lookAtMs: undefined,
      order: undefined,
      replacedBy: undefined,
    });
  });

  it.each([
    ['a state that is unknown', row.with(3, 'refunded')],
    ['a state of every object', row.with(3, 'toString')],
  ])('is refused with %s', (_, columns) => {
    expect(() => parseOwnedRow(JSON.stringify(columns))).toThrow(
      expect.objectContaining({
        code: 'STORE_FAILED',
        message: expect.stringContaining('look for a later version of the package'),
      }),
    );
  });
});

const UNKNOWN = expect.objectContaining({ code: 'STORE_FAILED' });

describe('what a claim reads', () => {
  const change = { key: 'b' };
  const order = ['order', 'created', 'PAY-1', '{}', 5, 'PAY-2', '', null, null];
  const see = (...rows: readonly unknown[]) =>
    parseSeenChange(
      rows.map((row) => JSON.stringify(row)),
      change,
    );

  it('is its order, whether it was processed, and the newest of the payment, in any order', () => {
    const changes = [
      ['change', 'b', '9007199254740993'],
      ['change', 'a', '9007199254740992'],
    ];
    for (const rows of [
      [order, ...changes],
      [...changes.toReversed(), order],
    ]) {
      expect(see(...rows)).toStrictEqual({
        row: {
          state: 'created',
          referenceNumber: 'PAY-1',
          payment: '{}',
          updatedAtUs: 5,
          paidBy: 'PAY-2',
          body: '',
          order: undefined,
          replacedBy: undefined,
        },
        isProcessed: true,
        newest: '9007199254740993',
        failure: undefined,
        second: undefined,
      });
    }
  });

  it('has its own failure, parked by any kind of one', () => {
    for (const parked of [1, '1', true]) {
      expect(see(order, ['failure', '2', parked])?.failure).toEqual({
        attempts: 2,
        parked: true,
      });
    }
    expect(see(order, ['failure', 2, 0])?.failure?.parked).toBe(false);
  });

  it('is refused in an unknown state, and when it is no JSON', () => {
    expect(() => see(order.with(1, 'refunded'))).toThrow(UNKNOWN);
    expect(() => parseSeenChange(['no JSON'], change)).toThrow(UNKNOWN);
  });
});

describe('a failed change from a row', () => {
  const names = ['sha256:1', 'payment-1', 'key-1', '["an order","payment-1","key-1"]'];
  const failed = [...names, '-1', 1_000, '2000', '2', 1, '{"name":"Error","message":"broken"}'];

  it('has its names in full, its times to the millisecond below, and no body where none is stored', () => {
    expect(parseFailedRow(JSON.stringify([...failed, null, 3_000]))).toStrictEqual({
      place: { atMs: 1_000, names: ['sha256:1', 'payment-1', 'key-1'] },
      item: {
        kind: 'failed-change',
        merchantPaymentReference: 'an order',
        since: new Date(1_000),
        listedAt: new Date(3_000),
        referenceNumber: 'payment-1',
        key: 'key-1',
        occurredAt: new Date(-1),
        attempts: 2,
        lastFailedAt: new Date(2_000),
        parked: true,
        error: { name: 'Error', message: 'broken' },
      },
    });
  });

  it('has the body that is stored in base64', () => {
    const { item } = parseFailedRow(JSON.stringify([...failed.with(8, '0'), 'AP8=', 3_000]));
    expect(item.rawBody).toEqual(Uint8Array.of(0, 255));
    expect(item.parked).toBe(false);
  });

  it('is refused without being quoted when a text is not JSON', () => {
    const secret = failed.with(9, 'not JSON: secret');
    const parse = () => parseFailedRow(JSON.stringify([...secret, null, 3_000]));
    expect(parse).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
    expect(parse).not.toThrow('secret');
  });
});

it('a second payment from a row has its place and its record', () => {
  expect(parseSecondRow(JSON.stringify(['5', 'order-1', 'PAY-2', '{"a":1}', '6']))).toEqual({
    place: { atMs: 5, names: ['order-1', 'PAY-2'] },
    payment: '{"a":1}',
    listedAtMs: 6,
  });
});

it('what is stored of a second payment is its record, with its time', () => {
  expect(parseSecond(undefined)).toBeUndefined();
  expect(parseSecond('["{}",5]')).toEqual({ payment: '{}', updatedAtUs: 5 });
  expect(parseSecond('["{}",null]')).toEqual({ payment: '{}', updatedAtUs: undefined });
});

it.each([
  [undefined, undefined],
  ['[null]', undefined],
  ['[7]', '7'],
  ['["a"]', 'a'],
])('one column of %o is %o', (json, expected) => {
  expect(parseOne(json)).toBe(expected);
});
