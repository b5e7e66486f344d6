import { describe, expect, it } from 'vitest';
import {
  parseJson,
  parseSeen,
  type StoredFailure,
  toFailedChange,
  toFullNames,
} from '../../src/store/stored-failure.js';

const row: StoredFailure = {
  reference: 'payment-1',
  storedKey: 'key-1',
  fullNames: null,
  occurredAtUs: '-1',
  attempts: 2,
  firstFailedAt: '2026-01-31T12:00:00.123Z',
  lastFailedAt: 1_769_860_800_999,
  parked: 1,
  error: '{"name":"Error","message":"broken"}',
  rawBody: null,
};

describe('a failed change from a row', () => {
  it('has its times to the millisecond below, and no body where none is stored', () => {
    expect(toFailedChange(row)).toStrictEqual({
      key: 'key-1',
      paymentReference: 'payment-1',
      occurredAt: new Date(-1),
      attempts: 2,
      firstFailedAt: new Date('2026-01-31T12:00:00.123Z'),
      lastFailedAt: new Date('2026-01-31T12:00:00.999Z'),
      parked: true,
      error: { name: 'Error', message: 'broken' },
    });
  });

  it('has the body that is stored in hex, and parked from any kind of truth', () => {
    const change = toFailedChange({ ...row, rawBody: '00ff', parked: 0 });
    expect(change.rawBody).toEqual(Uint8Array.of(0, 255));
    expect(change.parked).toBe(false);
  });

  it('has the names in full where others are stored', () => {
    const change = toFailedChange({ ...row, fullNames: '["long payment","long key"]' });
    expect(change).toMatchObject({ paymentReference: 'long payment', key: 'long key' });
  });

  it('is refused without being quoted when it is not JSON', () => {
    const error = 'not JSON: secret';
    expect(() => toFailedChange({ ...row, error })).toThrow(
      expect.objectContaining({
        code: 'STORE_FAILED',
        message: expect.stringMatching(/^The table of failures holds a text that this package/),
      }),
    );
    expect(() => parseJson(error)).not.toThrow('secret');
  });
});

describe('the names that are stored besides', () => {
  const names = { paymentReference: 'p', key: 'k' };

  it.each([
    ['nothing where both are the same', { reference: 'p', key: 'k' }, null],
    ['both where the payment differs', { reference: 'x', key: 'k' }, '["p","k"]'],
    ['both where the key differs', { reference: 'p', key: 'x' }, '["p","k"]'],
  ])('are %s', (_, stored, expected) => {
    expect(toFullNames(stored, names)).toBe(expected);
  });
});

describe('what a claim has seen', () => {
  it.each([
    ['', undefined, false],
    ['failed', 'failed', false],
    ['parked', 'parked', false],
    ['blocked', undefined, true],
    ['blocked parked blocked', 'parked', true],
    ['failed blocked', 'failed', true],
  ])('is read from %o', (words, own, behindParked) => {
    expect(parseSeen(words)).toEqual({ own, behindParked });
  });
});
