import { describe, expect, it } from 'vitest';
import {
  parseDetails,
  parseFailedRow,
  parseOne,
  parseOwnedRow,
  parseSecondRow,
  parseSeenChange,
} from '../../src/store/rows.js';

const visible = ['key', '{}', 'digest', 'sending', '2', 1000, 2000, 3000];
const row = [...visible, 'PAY-1', '{"a":1}', 'failed', 'owner', '4000', 5, 'PAY-2', '6000'];
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
  failure: 'failed',
};

describe('a row of payments', () => {
  it('is read with the fields that only the store sees', () => {
    expect(parseOwnedRow(JSON.stringify(row))).toEqual({
      key: 'key',
      row: { ...stored, owner: 'owner', leaseUntilMs: 4000, updatedAtUs: 5, paidBy: 'PAY-2' },
      nowMs: 6000,
    });
  });

  it('lacks what is null', () => {
    const nothing = [...row.slice(0, 6), null, 3000, ...Array(7).fill(null), 6000];
    const { row: read } = parseOwnedRow(JSON.stringify(nothing));
    expect(read).toEqual({
      ...stored,
      sentAtMs: undefined,
      referenceNumber: undefined,
      payment: undefined,
      failure: undefined,
      owner: undefined,
      leaseUntilMs: undefined,
      updatedAtUs: undefined,
      paidBy: undefined,
    });
  });

  it.each([
    ['a state that is unknown', row.with(3, 'refunded')],
    ['a state of every object', row.with(3, 'toString')],
    ['a column more', [...row, 'more']],
    ['a column less', row.slice(0, -1)],
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
  const read = ['created', 'PAY-1', '5', 'PAY-2', 1, 1_769_860_800_123_456, '1'];

  it('is read with times of sixteen digits', () => {
    expect(parseSeenChange(JSON.stringify(read))).toStrictEqual({
      hasFailures: true,
      seen: {
        row: { state: 'created', referenceNumber: 'PAY-1', updatedAtUs: 5, paidBy: 'PAY-2' },
        isProcessed: true,
        watermarkUs: '1769860800123456',
        failure: undefined,
        isBehindParked: false,
        secondUpdatedAtUs: undefined,
      },
    });
  });

  it('lacks what is null', () => {
    const nothing = ['elsewhere', ...Array(6).fill(null)];
    expect(parseSeenChange(JSON.stringify(nothing))).toMatchObject({
      hasFailures: false,
      seen: {
        row: {
          state: 'elsewhere',
          referenceNumber: undefined,
          updatedAtUs: undefined,
          paidBy: undefined,
        },
        isProcessed: false,
        watermarkUs: undefined,
      },
    });
  });

  it.each([undefined, '', 'null', '{}', JSON.stringify(read.slice(1))])(
    'is refused when it is %o',
    (json) => {
      expect(() => parseSeenChange(json)).toThrow(UNKNOWN);
    },
  );
});

describe('the details of a change', () => {
  it('are its failure, and whether it is behind a parked one', () => {
    expect(parseDetails('["2",0,1,"7"]')).toStrictEqual({
      failure: { attempts: 2, parked: false },
      isBehindParked: true,
      secondUpdatedAtUs: 7,
    });
  });

  it('have a parked failure from any kind of truth', () => {
    for (const parked of [1, '1', true]) {
      const { failure } = parseDetails(JSON.stringify([2, parked, null, null]));
      expect(failure).toEqual({ attempts: 2, parked: true });
    }
  });

  it('lack what is null', () => {
    expect(parseDetails('[null,null,null,null]')).toStrictEqual({
      failure: undefined,
      isBehindParked: false,
      secondUpdatedAtUs: undefined,
    });
  });

  it.each([undefined, '[1,0,1]'])('are refused when they are %o', (json) => {
    expect(() => parseDetails(json)).toThrow(UNKNOWN);
  });
});

describe('a failed change from a row', () => {
  const names = ['sha256:1', 'payment-1', 'key-1', '["an order","payment-1","key-1"]'];
  const failed = [...names, '-1', 1_000, '2000', '2', 1, '{"name":"Error","message":"broken"}'];

  it('has its names in full, its times to the millisecond below, and no body where none is stored', () => {
    expect(parseFailedRow(JSON.stringify([...failed, null]))).toStrictEqual({
      place: { atMs: 1_000, names: ['sha256:1', 'payment-1', 'key-1'] },
      change: {
        kind: 'failed-change',
        merchantPaymentReference: 'an order',
        since: new Date(1_000),
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
    const { change } = parseFailedRow(JSON.stringify([...failed.with(8, '0'), 'AP8=']));
    expect(change.rawBody).toEqual(Uint8Array.of(0, 255));
    expect(change.parked).toBe(false);
  });

  it('is refused without being quoted when a text is not JSON', () => {
    const secret = failed.with(9, 'not JSON: secret');
    const parse = () => parseFailedRow(JSON.stringify([...secret, null]));
    expect(parse).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
    expect(parse).not.toThrow('secret');
  });
});

it('a second payment from a row has its place and its record', () => {
  expect(parseSecondRow(JSON.stringify(['5', 'order-1', 'PAY-2', '{"a":1}']))).toEqual({
    place: { atMs: 5, names: ['order-1', 'PAY-2'] },
    payment: '{"a":1}',
  });
});

it.each([
  [undefined, undefined],
  ['[null]', undefined],
  ['[7]', '7'],
  ['["a"]', 'a'],
])('one column of %o is %o', (json, expected) => {
  expect(parseOne(json)).toBe(expected);
});
