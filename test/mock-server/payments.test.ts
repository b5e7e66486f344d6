import { expect, test } from 'vitest';
import { createManualClock } from '../../src/mock-server/index.js';
import { Cap } from '../../src/mock-server/state/cap.js';
import { PaymentBook } from '../../src/mock-server/state/payments.js';
import { SeededIds } from '../../src/mock-server/state/seeded-ids.js';

function createBook(entries: number): PaymentBook {
  return new PaymentBook({
    cap: new Cap('payments', entries, () => undefined),
    clock: createManualClock({ now: 1_000_000 }),
    ids: new SeededIds(7),
    initialStatus: 'created',
    onChange: () => undefined,
  });
}

const order = (number: number) => ({
  merchantPaymentReference: `order-${number}`,
  amount: number,
  currency: 'EUR',
});

test('a second payment for an order names the first, also once that was dropped', () => {
  const book = createBook(3);
  const first = book.create(order(0));
  const second = book.create(order(0));
  const third = book.create(order(0));
  expect(first.secondOf).toBeUndefined();
  // Its own, though undefined: Object.prototype may have one.
  expect(Object.keys(first)).toEqual(Object.keys(second));
  expect([second.secondOf, third.secondOf]).toEqual([first.referenceNumber, first.referenceNumber]);
  expect(book.change(second, 'paid').secondOf).toBe(first.referenceNumber);
  expect(book.seconds).toBe(2);
  expect(() => book.require('order-0')).toThrow(
    `3 payments have this merchantPaymentReference; pass the referenceNumber of one: ${first.referenceNumber}`,
  );
  book.create(order(1));
  book.create(order(2));
  expect(book.get('order-0')).toMatchObject({ referenceNumber: third.referenceNumber });
  expect(book.seconds).toBe(1);
  expect(book.create(order(0)).secondOf).toBe(third.referenceNumber);
  expect(book.seconds).toBe(1);
  book.clear();
  expect([book.seconds, book.ofOrder('order-0')]).toEqual([0, []]);
});
