import { describe, expect, it } from 'vitest';
import { parseFailedRow, parseOwnedRow, parseSeenChange } from '../../src/store/sql/rows.js';

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

describe('a row of payments', () => {
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

  it('is refused in an unknown state, and when it is no JSON', () => {
    expect(() => see(order.with(1, 'refunded'))).toThrow(UNKNOWN);
    expect(() => parseSeenChange(['no JSON'], change)).toThrow(UNKNOWN);
  });
});

describe('a failed change from a row', () => {
  const names = ['sha256:1', 'payment-1', 'key-1', '["an order","payment-1","key-1"]'];
  const failed = [...names, '-1', 1_000, '2000', '2', 1, '{"name":"Error","message":"broken"}'];

  it('is refused without being quoted when a text is not JSON', () => {
    const secret = failed.with(9, 'not JSON: secret');
    const parse = () => parseFailedRow(JSON.stringify([...secret, null, 3_000]));
    expect(parse).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
    expect(parse).not.toThrow('secret');
  });
});
