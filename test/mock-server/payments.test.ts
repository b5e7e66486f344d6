import { expect, test } from 'vitest';
import { createManualClock } from '../../src/mock-server/index.js';
import { createCaps, defaultLimits } from '../../src/mock-server/state/cap.js';
import { PaymentBook } from '../../src/mock-server/state/payments.js';
import { SeededIds } from '../../src/mock-server/state/seeded-ids.js';

function createBook(entries = 10): PaymentBook {
  return new PaymentBook({
    cap: createCaps({ ...defaultLimits, entries }, () => undefined).payments,
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
  expect(book.firstOf(odd.merchantPaymentReference)).toBe(changed);
});

test('a payment is found by a part of its reference, and changed like any other', () => {
  const book = createBook();
  const first = book.create({ ...order(0), merchantPaymentReference: 'A "B"' });
  for (let number = 1; number < 4; number += 1) book.create(order(number));
  const query = { limit: 10, before: undefined };
  expect(book.page({ ...query, search: 'a "B"' })).toMatchObject({
    payments: [{ referenceNumber: first.referenceNumber }],
    total: 1,
  });
  expect(book.page({ ...query, search: 'currency' }).total).toBe(0);
  expect(book.page({ ...query, search: undefined }).payments.at(-1)).toBe(first);
  book.change(first, 'paid');
  expect(book.get(first.referenceNumber)?.history.map(({ status }) => status)).toEqual([
    'created',
    'paid',
  ]);
});

test('a payment that was dropped does not return when it is changed', () => {
  const book = createBook(2);
  const first = book.create(order(0));
  const others = [book.create(order(1)), book.create(order(2))];
  expect(book.change(first, 'paid').status).toBe('paid');
  expect(book.list()).toEqual(others);
});
