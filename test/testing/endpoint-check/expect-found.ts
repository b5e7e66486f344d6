import { expect } from 'vitest';
import type { EndpointReport } from '../../../src/testing/endpoint-check/checks.js';
import { check, effectsOf, listen, SECRET } from './shop.js';
import type { WrongHandler } from './wrong-handler.js';

/** The checks that failed, the cause first. */
export const failuresOf = ({ checks, cause }: EndpointReport) =>
  checks
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ id }) => id)
    .sort((one, other) => Number(other === cause) - Number(one === cause));

/** Checks the endpoint, and expects that its flaw is found, and is named as the cause. */
export async function expectFound({ create, fails, says, options }: WrongHandler): Promise<void> {
  const { listener, orders, options: ofShop } = create();
  const report = await check(await listen(listener), {
    signingSecret: SECRET,
    countEffects: effectsOf(orders),
    ...options,
    ...ofShop,
  });
  expect(failuresOf(report)).toEqual(fails);
  expect(report).toMatchObject({ passed: false, cause: fails[0] });
  const first = report.checks.find(({ id }) => id === report.cause);
  const said = [first?.detail, first?.answer, first?.remedy].join(' ');
  expect(said).toMatch(says ?? /./);
  expect(said).not.toContain(SECRET);
}
