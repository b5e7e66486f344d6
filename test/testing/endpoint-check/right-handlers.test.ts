import { describe, expect, it } from 'vitest';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type {
  CheckCallbackEndpointOptions,
  CheckedPayment,
} from '../../../src/testing/endpoint-check/options.js';
import { rightEndpoints } from './right-endpoints.js';
import { check, later, listen, SECRET, Shop, useManualClock } from './shop.js';

useManualClock();

/** Counts by order, as a probe on a table of orders does. */
class OrderShop extends Shop {
  readonly shipments = new Map<string, number>();

  protected override perform(payment: PaymentStatusRecord, isOlder: boolean): void {
    super.perform(payment, isOlder);
    if (payment.status !== 'paid') return;
    const { merchantPaymentReference } = payment;
    this.shipments.set(merchantPaymentReference, this.countOrder(payment) + 1);
  }

  readonly countOrder = ({ merchantPaymentReference }: CheckedPayment): number =>
    this.shipments.get(merchantPaymentReference) ?? 0;
}

class OncePerOrderShop extends OrderShop {
  protected override perform(payment: PaymentStatusRecord, isOlder: boolean): void {
    if (this.countOrder(payment) === 0) super.perform(payment, isOlder);
  }
}

async function judge(
  shop: Shop,
  options: Omit<CheckCallbackEndpointOptions, 'signingSecret'>,
): Promise<{ failed: string[]; skipped: Record<string, string> }> {
  const { checks } = await check(await listen(shop.listener), {
    signingSecret: SECRET,
    ...options,
  });
  return {
    failed: checks.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id),
    skipped: Object.fromEntries(
      checks.filter(({ outcome }) => outcome === 'skipped').map(({ id, detail }) => [id, detail]),
    ),
  };
}

const NOT_ASKED = 'not tried: it needs the option overtaking';
const NOT_OVERTAKEN = { overtaking: NOT_ASKED };
const MIXED = 'not judged: countEffects does not distinguish payments: count by referenceNumber';
const ALL_MIXED = {
  ...NOT_OVERTAKEN,
  ...Object.fromEntries(
    [
      'valid-effect',
      'unknown-status-effect',
      'duplicate-effect',
      'simultaneous-effect',
      'resigned-retry-effect',
      'second-change-effect',
      'older-change-effect',
      'late-paid-effect',
    ].map((id) => [
      id,
      `${MIXED}, or give each payment its own order with the option merchantPaymentReference`,
    ]),
  ),
};

describe('does not accuse an endpoint that', () => {
  it.each(rightEndpoints)('$habit', async ({ create, options }) => {
    const { listener, orders, options: ofShop } = create();
    const report = await check(await listen(listener), {
      signingSecret: SECRET,
      countEffects: (payment: CheckedPayment) => ({
        effects: orders.countOf(payment),
        status: orders.statusOf(payment),
      }),
      ...options,
      ...ofShop,
    });
    expect(report.checks.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(report).toMatchObject({ passed: true });
    expect(report).not.toHaveProperty('cause');
  });
});

it('knows many correct endpoints', () => {
  expect(new Set(rightEndpoints.map(({ habit }) => habit)).size).toBeGreaterThanOrEqual(15);
});

describe('does not accuse an endpoint', () => {
  it.each([
    ['acts on each payment', () => new OrderShop()],
    ['acts once for each order', () => new OncePerOrderShop()],
  ])(
    'that %s, when one order has all payments and the probe counts by order',
    async (_, create) => {
      const shop = create();
      const { failed, skipped } = await judge(shop, {
        merchantPaymentReference: 'order-1',
        countEffects: shop.countOrder,
      });
      expect({ failed, skipped }).toEqual({ failed: [], skipped: ALL_MIXED });
    },
  );

  it('whose only order had shipped before', async () => {
    const shop = new OncePerOrderShop();
    shop.shipments.set('order-1', 1);
    const { failed, skipped } = await judge(shop, {
      merchantPaymentReference: 'order-1',
      countEffects: shop.countOrder,
    });
    expect({ failed, skipped }).toEqual({ failed: [], skipped: ALL_MIXED });
  });

  it('that had done something for each order before', async () => {
    const shop = new OrderShop();
    let orders = 0;
    const { failed, skipped } = await judge(shop, {
      merchantPaymentReference: () => {
        orders += 1;
        shop.shipments.set(`order-${orders}`, 2);
        return `order-${orders}`;
      },
      countEffects: shop.countOrder,
    });
    expect(failed).toEqual([]);
    expect(skipped).toEqual(NOT_OVERTAKEN);
  });

  it('that ships its only order once, and says that orders are needed to judge more', async () => {
    const shop = new OncePerOrderShop();
    const { failed, skipped } = await judge(shop, {
      merchantPaymentReference: 'order-1',
      countEffects: (payment) => shop.orders.countOf(payment),
    });
    expect(failed).toEqual([]);
    expect(skipped['duplicate-effect']).toBe(
      'not judged: only the first payment of the order had an effect: give each payment its own order with the option merchantPaymentReference',
    );
  });

  it('with one reference for all, when the probe counts by payment', async () => {
    const shop = new Shop();
    const { failed, skipped } = await judge(shop, {
      merchantPaymentReference: 'order-1',
      countEffects: (payment) => shop.orders.countOf(payment),
    });
    expect({ failed, skipped }).toEqual({ failed: [], skipped: NOT_OVERTAKEN });
  });

  it.each([150, 300])('that leaves the work to a queue that takes %i ms for each', async (ms) => {
    const shop = new (class extends Shop {
      #queue: Promise<void> = Promise.resolve();
      protected override perform(payment: PaymentStatusRecord, isOlder: boolean): void {
        this.#queue = this.#queue.then(async () => {
          await later(ms);
          super.perform(payment, isOlder);
        });
      }
    })();
    const { failed, skipped } = await judge(shop, {
      countEffects: (payment) => ({
        effects: shop.orders.countOf(payment),
        status: shop.orders.statusOf(payment),
      }),
    });
    expect({ failed, skipped }).toEqual({ failed: [], skipped: NOT_OVERTAKEN });
  });
});
