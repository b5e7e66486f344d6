import { expect, it } from 'vitest';
import type { ExplorationStep } from '../../../src/testing/endpoint-exploration/script.js';
import { shrink } from '../../../src/testing/endpoint-exploration/shrink.js';

const UNLIMITED = { maxRuns: 1_000, withinMs: 60_000 };
const long: readonly ExplorationStep[] = Array.from({ length: 12 }, (_, index) => ({
  do: 'deliver',
  payment: index + 1,
  change: index === 3 || index === 8 ? 'paid' : 'after',
}));
const isPaidTwice = async (script: readonly ExplorationStep[]) =>
  script.filter((step) => step.do !== 'restart' && step.change === 'paid').length >= 2;

it('leaves the steps without which the script does not fail, and numbers their payments', async () => {
  const { script, ended, runs } = await shrink(long, isPaidTwice, UNLIMITED);
  expect(script).toEqual([
    { do: 'deliver', payment: 1, change: 'paid' },
    { do: 'deliver', payment: 2, change: 'paid' },
  ]);
  expect(ended).toBe('complete');
  expect(runs).toBeLessThan(30);
});

it('makes the steps plain that need nothing special', async () => {
  const special: readonly ExplorationStep[] = [
    { do: 'lose-answer', payment: 2, change: 'paid' },
    { do: 'deliver', payment: 2, change: 'paid', lateSeconds: 9, atOnce: true },
    { do: 'deliver', payment: 2, change: 'paid', lateSeconds: 4, atOnce: true },
  ];
  const needsLate = async (script: readonly ExplorationStep[]) =>
    script.length === 3 && script.some((step) => 'lateSeconds' in step && step.lateSeconds === 4);
  const { script } = await shrink(special, needsLate, UNLIMITED);
  const plain = { do: 'deliver', payment: 1, change: 'paid' };
  expect(script).toEqual([plain, plain, { ...plain, lateSeconds: 4 }]);
});

it.each([
  ['out-of-runs', { maxRuns: 3, withinMs: 60_000 }, 3],
  ['out-of-time', { maxRuns: 1_000, withinMs: 0 }, 0],
] as const)('ends %s, with what it has then', async (ended, limits, runs) => {
  const shrunk = await shrink(long, isPaidTwice, limits);
  expect(shrunk).toMatchObject({ ended, runs });
  expect(await isPaidTwice(shrunk.script)).toBe(true);
});
