export type Delivery = 'shipped' | 'cancelled';

export interface OrderState {
  readonly status: string | null;
  readonly isPaid: boolean;
}

/** No retry helps: a person must look. */
export class RefusedError extends Error {}

/**
 * Tells the warehouse what the order needs now. A job may overtake another job of its order, or run at the
 * same time, so each reads the order again until nothing has changed: the warehouse hears the newest
 * state last.
 */
export async function deliver(
  reference: string,
  read: () => Promise<OrderState>,
): Promise<Delivery | undefined> {
  let told: Delivery | undefined;
  for (;;) {
    const needed = deliveryOf(await read());
    if (needed === undefined || needed === told) return told;
    await tell(reference, needed);
    told = needed;
  }
}

/** Undefined while the order is not paid. */
function deliveryOf({ status, isPaid }: OrderState): Delivery | undefined {
  // `refunded` stands for the statuses of your account that end a delivery.
  if (status === 'refunded') return 'cancelled';
  return isPaid ? 'shipped' : undefined;
}

/** By PUT and DELETE, which may be repeated. */
async function tell(reference: string, delivery: Delivery): Promise<void> {
  const url = `${process.env.WAREHOUSE_URL}/shipments/${encodeURIComponent(reference)}`;
  const method = delivery === 'shipped' ? 'PUT' : 'DELETE';
  const { ok, status } = await fetch(url, { method, signal: AbortSignal.timeout(10_000) });
  if (ok) return;
  const message = `${reference} is not ${delivery}: the warehouse answered ${status}`;
  // 400 or 422: for example an address to which it does not deliver. Anything else is worth a retry.
  throw status === 400 || status === 422 ? new RefusedError(message) : new Error(message);
}
