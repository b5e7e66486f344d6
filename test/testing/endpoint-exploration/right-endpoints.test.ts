import { describe, expect, it, vi } from 'vitest';
import type { CheckedPayment } from '../../../src/testing/endpoint-check/options.js';
import { exploreCallbackEndpoint } from '../../../src/testing/endpoint-exploration/explore-callback-endpoint.js';
import { rightEndpoints } from '../endpoint-check/right-endpoints.js';
import { listen, SECRET } from '../endpoint-check/shop.js';

// A guard against hanging: a busy machine takes many times the few seconds of a run.
vi.setConfig({ testTimeout: 240_000 });

describe.concurrent('finds nothing wrong with an endpoint that', () => {
  const own = rightEndpoints.filter(
    ({ create }) => typeof create().options?.merchantPaymentReference !== 'string',
  );
  it.each(own)('$habit', async ({ create, options }) => {
    const { listener, orders, options: ofShop } = create();
    const { merchantPaymentReference, effectCounts, countEffects } = { ...options, ...ofShop };
    const report = await exploreCallbackEndpoint(await listen(listener), {
      signingSecret: SECRET,
      effectsWithinMs: 300,
      schedules: 8,
      seed: 20,
      countEffects:
        countEffects ??
        ((payment: CheckedPayment) => ({
          effects: orders.countOf(payment),
          status: orders.statusOf(payment),
        })),
      ...(typeof merchantPaymentReference === 'function' && { merchantPaymentReference }),
      effectCounts,
    });
    expect(report.failure).toBeUndefined();
    expect(report).toMatchObject({ passed: true, schedules: 8, ran: 8, seed: 20 });
  });
});
