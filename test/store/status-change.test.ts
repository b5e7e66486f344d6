import { describe, expect, it } from 'vitest';
import { readChange, readStatusChange } from '../../src/store/change.js';
import { memoryStore } from '../../src/store/memory.js';
import { databaseForms } from '../../src/store/sql/sql.js';
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

  it.each([undefined, null, '', 'yesterday', '2026-01-31', '2026-01-31T12:00:00', 1, new Date(0)])(
    'refuses %s, with which nothing would ever be older',
    async (updatedAt) => {
      const change = changeOf();
      const wrong = { ...change, payment: { ...change.payment, updatedAt: updatedAt as string } };
      await expect(outcomeOf(memoryStore(), wrong, async () => {})).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'payment.updatedAt',
        message: expect.stringContaining('an ISO 8601 date-time with a UTC offset'),
      });
    },
  );
});

describe('a change without a name', () => {
  it.each(['key', 'payment.merchantPaymentReference', 'payment.referenceNumber'])(
    'is refused: %s',
    (option) => {
      const field = option.replace('payment.', '');
      for (const name of [undefined, null, 7, '']) {
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

  it('is refused if it has no payment', () => {
    for (const payment of [undefined, null]) {
      expect(() => readStatusChange({ key: 'key', payment } as never)).toThrow(
        expect.objectContaining({ option: 'payment.merchantPaymentReference' }),
      );
    }
  });
});

describe('what is read of a change', () => {
  it('is whether it is paid', () => {
    expect(readStatusChange(changeOf()).isPaid).toBe(false);
    expect(readStatusChange(changeOf({ status: 'paid' })).isPaid).toBe(true);
    expect(readStatusChange(changeOf({ status: 'PAID' })).isPaid).toBe(false);
  });

  it('is names that every store can handle, and those in full', () => {
    const change = readChange(
      changeOf({ order: 'an order', referenceNumber: 'é', key: 'a key' }),
      databaseForms,
    );
    const full = { merchantPaymentReference: 'an order', referenceNumber: 'é', key: 'a key' };
    expect(change.full).toMatchObject(full);
    const { merchantPaymentReference, referenceNumber, key } = change;
    for (const name of [merchantPaymentReference, referenceNumber, key]) {
      expect(name).toMatch(/^sha256:[\w-]{43}$/);
    }
    expect(change.serviceRecord.referenceNumber).toBe(referenceNumber);
  });
});
