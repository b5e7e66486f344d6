import { describe, expect, it } from 'vitest';
import type {
  CheckCallbackEndpointOptions,
  CheckedPayment,
} from '../../../src/testing/endpoint-check/options.js';
import { rightEndpoints } from './right-endpoints.js';
import {
  changed,
  check,
  effectsOf,
  later,
  listen,
  SECRET,
  type Shop,
  useManualClock,
} from './shop.js';

useManualClock();

/** A shop that counts by order, as a probe on a table of orders does. */
function createOrderShop({ isOncePerOrder = false } = {}) {
  const shipments = new Map<string, number>();
  const countOrder = ({ merchantPaymentReference }: CheckedPayment): number =>
    shipments.get(merchantPaymentReference) ?? 0;
  const { listener, orders } = changed((shop) => ({
    perform(payment, isOlder) {
      if (isOncePerOrder && countOrder(payment) > 0) return;
      shop.perform(payment, isOlder);
      if (payment.status !== 'paid') return;
      shipments.set(payment.merchantPaymentReference, countOrder(payment) + 1);
    },
  }));
  return { listener, orders, shipments, countOrder };
}

async function judge(
  shop: Pick<Shop, 'listener'>,
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
      countEffects: effectsOf(orders),
      ...options,
      ...ofShop,
    });
    expect(report.checks.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(report).toMatchObject({ passed: true });
    expect(report).not.toHaveProperty('cause');
  });
});

describe('does not accuse an endpoint', () => {
  it.each([
    ['acts on each payment', false],
    ['acts once for each order', true],
  ])(
    'that %s, when one order has all payments and the probe counts by order',
    async (_, isOncePerOrder) => {
      const shop = createOrderShop({ isOncePerOrder });
      const { failed, skipped } = await judge(shop, {
        merchantPaymentReference: 'order-1',
        countEffects: shop.countOrder,
      });
      expect({ failed, skipped }).toEqual({ failed: [], skipped: ALL_MIXED });
    },
  );

  it('that had done something for each order before', async () => {
    const shop = createOrderShop();
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
    const shop = createOrderShop({ isOncePerOrder: true });
    const { failed, skipped } = await judge(shop, {
      merchantPaymentReference: 'order-1',
      countEffects: (payment) => shop.orders.countOf(payment),
    });
    expect(failed).toEqual([]);
    expect(skipped['duplicate-effect']).toBe(
      'not judged: only the first payment of the order had an effect: give each payment its own order with the option merchantPaymentReference',
    );
  });

  it.each([150, 300])('that leaves the work to a queue that takes %i ms for each', async (ms) => {
    const shop = changed(({ perform }) => {
      let queue = Promise.resolve();
      return {
        perform(payment, isOlder) {
          queue = queue.then(() => later(ms)).then(() => perform(payment, isOlder));
        },
      };
    });
    const { failed, skipped } = await judge(shop, {
      countEffects: effectsOf(shop.orders),
    });
    expect({ failed, skipped }).toEqual({ failed: [], skipped: NOT_OVERTAKEN });
  });
});
