import { describe, expect, it } from 'vitest';
import { readStatusChange } from '../../src/store/change.js';
import { memoryStore } from '../../src/store/memory.js';
import { changeOf } from './orders.js';
import { outcomeOf } from './outcome-of.js';

describe('the time of a change in epoch microseconds', () => {
  it.each([
    ['1970-01-01T00:00:00.001Z', '1000'],
    ['1970-01-01T00:00:00.001999Z', '1999'],
    ['1969-12-31T23:59:59.999001Z', '-999'],
    ['2026-01-31T12:00:00.123456Z', '1769860800123456'],
    ['2026-01-31T14:00:00.1234569+02:00', '1769860800123456'],
    ['9999-12-31T23:59:59.999999Z', '253402300799999999'],
  ])('is that of updatedAt: %s', (updatedAt, expected) => {
    expect(readStatusChange(changeOf({ updatedAt })).occurredAtUs).toBe(expected);
  });

  it.each([undefined, 'yesterday', '2026-01-31T12:00:00', new Date(0)])(
    'refuses %s, with which nothing would ever be older',
    async (updatedAt) => {
      const change = changeOf();
      const wrong = { ...change, payment: { ...change.payment, updatedAt: updatedAt as string } };
      await expect(outcomeOf(memoryStore(), wrong, async () => {})).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'payment.updatedAt',
      });
    },
  );
});

describe('a change without a name', () => {
  it.each(['key', 'payment.merchantPaymentReference', 'payment.referenceNumber'])(
    'is refused: %s',
    (option) => {
      const field = option.replace('payment.', '');
      for (const name of [undefined, 7, '']) {
        const change = changeOf();
        const wrong =
          field === 'key'
            ? { ...change, key: name as string }
            : { ...change, payment: { ...change.payment, [field]: name } };
        expect(() => readStatusChange(wrong)).toThrow(
          expect.objectContaining({ code: 'INVALID_OPTION', option }),
        );
      }
    },
  );
});
