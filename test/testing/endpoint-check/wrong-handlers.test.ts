import { describe, expect, it } from 'vitest';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import type { CheckedPayment } from '../../../src/testing/endpoint-check/options.js';
import type { EndpointReport } from '../../../src/testing/endpoint-check/report.js';
import { listen, SECRET, Shop } from './shop.js';
import { wrongHandlers } from './wrong-handlers.js';

const failuresOf = ({ checks }: EndpointReport) =>
  checks.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);

it('finds nothing wrong with a right handler written by hand', async () => {
  const { listener, orders } = new Shop();
  const report = await checkCallbackEndpoint(await listen(listener), {
    signingSecret: SECRET,
    countEffects: (payment) => orders.countOf(payment),
  });
  expect(failuresOf(report)).toEqual([]);
  const skipped = report.checks.filter(({ outcome }) => outcome === 'skipped');
  expect(skipped.map(({ id, detail }) => [id, detail])).toEqual([
    ['overtaking', 'not tried: it needs the option overtaking'],
    ['overtaking-redelivery', 'not tried: it needs the option overtaking'],
    ['unknown-status-effect', 'not tried: countEffects returns no status'],
    ['older-change-effect', 'not judged: countEffects counts every change and returns no status'],
    ['overtaking-effect', 'not tried: it needs the option overtaking'],
  ]);
});

// At the same time: most of a run is waiting for the next second to begin.
describe.concurrent('finds a handler that', () => {
  it.each(wrongHandlers)('$flaw', async ({ create, fails, options }) => {
    const { listener, orders, options: ofShop } = create();
    const report = await checkCallbackEndpoint(await listen(listener), {
      signingSecret: SECRET,
      effectsWithinMs: 300,
      countEffects: (payment: CheckedPayment) => ({
        effects: orders.countOf(payment),
        status: orders.statusOf(payment),
      }),
      ...options,
      ...ofShop,
    });
    expect(failuresOf(report)).toEqual(fails);
    expect(report.passed).toBe(false);
  });
});

it('has no check that finds no wrong handler, but for that of a connection', async () => {
  const { checks } = await checkCallbackEndpoint('http://127.0.0.1:1', { signingSecret: SECRET });
  const found = new Set(wrongHandlers.flatMap(({ fails }) => fails));
  expect(checks.map(({ id }) => id).filter((id) => !found.has(id))).toEqual(['reachable']);
});
