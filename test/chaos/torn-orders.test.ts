import { expect, it } from 'vitest';
import { findTornOrders, type OrderOrPayment } from './torn-orders.js';

const order = (reference: string, status: string): OrderOrPayment => ({
  kind: 'order',
  reference,
  order_name: null,
  status,
});
const payment = (reference: string, status: string | null, first?: string): OrderOrPayment => ({
  kind: 'payment',
  reference,
  order_name: first === undefined ? null : JSON.stringify(first),
  status,
});

it.each<[string, OrderOrPayment[], string[]]>([
  ['has no payment yet', [order('direct-1', 'created')], []],
  ['is behind its payment', [order('direct-1', 'created'), payment('direct-1', 'paid')], []],
  [
    'is as its further payment is',
    [
      order('recorded-1', 'paid'),
      payment('recorded-1', 'declined'),
      payment('recorded-1-2', 'paid', 'recorded-1'),
    ],
    [],
  ],
  ['was stored without its payment', [order('recorded-1', 'created')], ['recorded-1']],
  ['has a payment but is not stored', [payment('direct-1', null)], ['direct-1']],
  [
    'is ahead of its payments',
    [
      order('direct-1', 'paid'),
      payment('direct-1', 'declined'),
      payment('direct-1-2', null, 'direct-1'),
    ],
    ['direct-1'],
  ],
])('tells whether an order is torn that %s', (_, rows, torn) => {
  expect(findTornOrders(rows)).toEqual(torn);
});
