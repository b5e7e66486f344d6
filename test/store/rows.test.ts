import { describe, expect, it } from 'vitest';
import { parseOwnedRow } from '../../src/store/rows.js';

const visible = ['key', '{}', 'digest', 'sending', '2', 1000, 2000, 3000];
const row = [...visible, 'PAY-1', '{"a":1}', 'failed', 'owner', '4000', 5, '6000'];
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

describe('a row of the outbox', () => {
  it('is read with the fields that only the store sees', () => {
    expect(parseOwnedRow(JSON.stringify(row))).toEqual({
      key: 'key',
      row: { ...stored, owner: 'owner', leaseUntilMs: 4000, updatedAtUs: 5 },
      nowMs: 6000,
    });
  });

  it('lacks what is null', () => {
    const nothing = [...row.slice(0, 6), null, 3000, ...Array(6).fill(null), 6000];
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
