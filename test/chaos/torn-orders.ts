import { DECLINED, isRecorded } from './shop-config.js';

/** An order, or a payment of the store, as one statement sees all of them at one moment. */
export interface OrderOrPayment {
  readonly kind: 'order' | 'payment';
  readonly reference: string;
  /** JSON of the order's first reference, of a further attempt. */
  readonly order_name: string | null;
  /** That of a payment is null until a callback of it was received. */
  readonly status: string | null;
}

/** @param paymentStatus the SQL that reads the status from `payment` */
export const ordersAndPayments = (
  paymentStatus: string,
) => `SELECT 'order' AS kind, reference, NULL AS order_name, status FROM orders
UNION ALL SELECT 'payment', merchant_payment_reference, order_name, ${paymentStatus} FROM payment_store_payments`;

// As the lives of payments have them: an order that is tried again goes no further than the furthest of its payments.
const STATUSES = ['created', 'authorized', DECLINED, 'captured', 'paid', 'settled'];

/**
 * The orders that are half recorded or ahead of their payments. An order may be behind them, which are settled although
 * the work failed.
 */
export function findTornOrders(rows: readonly OrderOrPayment[]): string[] {
  const orders = new Map<string, string | null>();
  const furthest = new Map<string, number>();
  for (const { kind, reference, order_name: first, status } of rows) {
    if (kind === 'order') {
      orders.set(reference, status);
      continue;
    }
    const order = first === null ? reference : (JSON.parse(first) as string);
    furthest.set(order, Math.max(furthest.get(order) ?? 0, STATUSES.indexOf(status ?? 'created')));
  }
  const withoutOrder = [...furthest.keys()].filter((order) => !orders.has(order));
  const ahead = [...orders].filter(([order, status]) => {
    const reached = furthest.get(order);
    if (reached === undefined && isRecorded(order)) return true;
    return STATUSES.indexOf(status ?? 'created') > (reached ?? 0);
  });
  return [...withoutOrder, ...ahead.map(([order]) => order)];
}
