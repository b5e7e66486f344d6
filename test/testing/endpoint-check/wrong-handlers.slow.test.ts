import { describe, expect, it } from 'vitest';
import type { CheckedPayment } from '../../../src/testing/endpoint-check/options.js';
import type { EndpointReport } from '../../../src/testing/endpoint-check/report.js';
import { check, listen, SECRET, Shop, useManualClock } from './shop.js';
import { wrongHandlers } from './wrong-handlers.js';

useManualClock();

const failuresOf = ({ checks, cause }: EndpointReport) =>
  checks
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ id }) => id)
    .sort((one, other) => Number(other === cause) - Number(one === cause));

it('finds nothing wrong with a correct handler written by hand', async () => {
  const { listener, orders } = new Shop();
  const report = await check(await listen(listener), {
    signingSecret: SECRET,
    countEffects: (payment) => orders.countOf(payment),
  });
  expect(failuresOf(report)).toEqual([]);
  const skipped = report.checks.filter(({ outcome }) => outcome === 'skipped');
  expect(skipped.map(({ id, detail }) => [id, detail])).toEqual([
    ['overtaking', 'not tried: it needs the option overtaking'],
    ['overtaking-redelivery', 'not tried: it needs the option overtaking'],
    [
      'unknown-status-effect',
      "not judged: countEffects returns no status, and effectCounts is not 'paid'",
    ],
    ['older-change-effect', 'not judged: countEffects counts every change and returns no status'],
    ['overtaking-effect', 'not tried: it needs the option overtaking'],
  ]);
});

describe('finds a handler that', () => {
  it.each(wrongHandlers)('$flaw', async ({ create, fails, says, options }) => {
    const { listener, orders, options: ofShop } = create();
    const report = await check(await listen(listener), {
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
    expect(report).toMatchObject({ passed: false, cause: fails[0] });
    const first = report.checks.find(({ id }) => id === report.cause);
    const said = [first?.detail, first?.answer, first?.remedy].join(' ');
    expect(said).toMatch(says ?? /./);
    expect(said).not.toContain(SECRET);
  });
});

it('has a wrong handler for every check that no other check precedes', async () => {
  const { checks } = await check('http://127.0.0.1:1', { signingSecret: SECRET });
  const found = new Set(wrongHandlers.flatMap(({ fails }) => fails));
  expect(checks.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([
    'tampered-body', // wrong-secret
    'other-signature', // wrong-secret
    'changed-timestamp', // valid-accepted
    'raw-bytes', // parsed-body
    'resigned-retry', // duplicate
  ]);
});

it('is a corpus of distinct wrong endpoints', () => {
  const flaws = wrongHandlers.map(({ flaw }) => flaw);
  expect(new Set(flaws).size).toBe(flaws.length);
  expect(flaws.length).toBeGreaterThan(90);
});
