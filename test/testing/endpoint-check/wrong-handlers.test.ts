import { describe, expect, it } from 'vitest';
import { expectFound, failuresOf } from './expect-found.js';
import { check, listen, SECRET, Shop, useManualClock } from './shop.js';
import { usualFlaws } from './wrong-handlers.js';

useManualClock();

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
  ]);
});

describe('finds a handler that', () => {
  it.each(usualFlaws)('$flaw', expectFound);
});
