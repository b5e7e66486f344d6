import { expect, it } from 'vitest';
import { createSchedule } from '../../../src/testing/endpoint-exploration/schedule.js';

const all = (seed: number) =>
  Array.from({ length: 300 }, (_, index) => createSchedule(seed, index + 1, 150));

it('makes the same schedules of the same seed, and others of another', () => {
  expect(all(7)).toEqual(all(7));
  expect(all(7)[0]).toEqual([
    { do: 'deliver', payment: 2, change: 'after' },
    { do: 'deliver', payment: 2, change: 'after', atOnce: true },
    { do: 'restart' },
    { do: 'restart' },
    { do: 'drop', payment: 2, change: 'before' },
    { do: 'deliver', payment: 1, change: 'before', lateSeconds: 33 },
    { do: 'lose-answer', payment: 1, change: 'before' },
    { do: 'lose-answer', payment: 2, change: 'after' },
  ]);
  expect(all(8)).not.toEqual(all(7));
  expect(new Set(all(7).map((steps) => JSON.stringify(steps))).size).toBeGreaterThan(290);
});

it('has every kind of step, in every order', () => {
  const schedules = all(1);
  const steps = schedules.flat();
  const kinds = new Set(steps.map((step) => step.do));
  expect(kinds).toEqual(new Set(['deliver', 'drop', 'lose-answer', 'restart']));
  const delivered = steps.filter((step) => step.do === 'deliver');
  expect(delivered.some(({ atOnce }) => atOnce)).toBe(true);
  const late = delivered.flatMap(({ lateSeconds }) => lateSeconds ?? []);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...late)).toBeLessThanOrEqual(150);
  const orders = schedules.map((schedule) =>
    schedule
      .flatMap((step) => (step.do !== 'restart' && step.payment === 1 ? step.change : []))
      .filter((change, index, changes) => changes.indexOf(change) === index)
      .join(),
  );
  for (const order of ['before,paid', 'paid,before', 'after,paid,before']) {
    expect(orders).toContain(order);
  }
});
