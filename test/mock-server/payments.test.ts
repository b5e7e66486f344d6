import { expect, test } from 'vitest';
import { createManualClock } from '../../src/mock-server/index.js';
import { Cap } from '../../src/mock-server/state/cap.js';
import { PaymentBook } from '../../src/mock-server/state/payments.js';
import { SeededIds } from '../../src/mock-server/state/seeded-ids.js';

function createBook(entries = 10): PaymentBook {
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

test('a payment is kept as it was given, frozen', () => {
  const book = createBook();
  const odd = { merchantPaymentReference: '"\n\ud800é', amount: 0.1, currency: 'EUR' };
  const note = JSON.parse('{"__proto__": 1, "list": [{"a": null}]}');
  const { referenceNumber } = book.create(JSON.parse(JSON.stringify({ ...odd, note, b: 2 })));
  const changed = book.change(book.require(referenceNumber), 'paid');
  book.create(order(1));
  const payment = book.get(referenceNumber);
  expect(payment).toBe(changed);
  expect(payment).toMatchObject({ ...odd, status: 'paid' });
  expect(payment?.extra).toStrictEqual({ note, b: 2 });
  expect([payment, payment?.history, payment?.extra].every(Object.isFrozen)).toBe(true);
  expect(book.list()[0]).toBe(changed);
  expect(book.ofOrder(odd.merchantPaymentReference)).toEqual([changed]);
  expect(book.get(odd.merchantPaymentReference)).toBe(changed);
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

test.each([
  [{ referenceNumber: 'unknown', merchantPaymentReference: 'order-1' }, undefined],
  [{ merchantPaymentReference: 'order-1' }, 'order-1'],
  [{ referenceNumber: undefined, merchantPaymentReference: 'order-1' }, 'order-1'],
  ['order-1', 'order-1'],
  ['', undefined],
  ['order-2', undefined],
])('%j names the payment %s', (given, found) => {
  const book = createBook();
  book.create(order(1));
  expect(book.get(given)?.merchantPaymentReference).toBe(found);
});

test('what names no payment at all is refused', () => {
  for (const given of [undefined, 5, {}, []]) {
    expect(() => createBook().get(given as never)).toThrow(
      'must be a referenceNumber, a merchantPaymentReference, or a payment',
    );
  }
});

test('a payment that was dropped does not return when it is changed', () => {
  const book = createBook(2);
  const first = book.create(order(0));
  const others = [book.create(order(1)), book.create(order(2))];
  expect(book.change(first, 'paid').status).toBe('paid');
  expect(book.list()).toEqual(others);
});
