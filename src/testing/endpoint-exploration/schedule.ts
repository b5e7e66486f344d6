import { createHash } from 'node:crypto';
import { type DeliverStep, type ExplorationStep, exploredChanges } from './script.js';

const MAX_PAYMENTS = 3;
const MAX_ATTEMPTS = 2;
const MAX_RESTARTS = 2;

/**
 * Creates a schedule from a seed and its number: a few changes of a few payments, each sent once or more, in
 * any order. The same arguments return the same steps.
 *
 * @param latest how late a callback may be, in seconds
 */
export function createSchedule(seed: number, number: number, latest: number): ExplorationStep[] {
  let drawn = 0;
  // A hash in counter mode: neighbouring seeds have nothing in common.
  const draw = (limit: number): number => {
    const digest = createHash('sha256').update(`${seed}.${number}.${drawn}`).digest();
    drawn += 1;
    return digest.readUInt32BE() % limit;
  };
  const insert = (steps: ExplorationStep[], step: ExplorationStep): void => {
    steps.splice(draw(steps.length + 1), 0, step);
  };

  const steps: ExplorationStep[] = [];
  const payments = 1 + draw(MAX_PAYMENTS);
  for (let payment = 1; payment <= payments; payment += 1) {
    const chosen = 1 + draw(2 ** exploredChanges.length - 1);
    for (const change of exploredChanges.filter((_, index) => (chosen >> index) & 1)) {
      const attempts = 1 + draw(MAX_ATTEMPTS);
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const lateSeconds = draw(4) === 0 ? { lateSeconds: 1 + draw(latest) } : {};
        const deliver: DeliverStep = { do: 'deliver', payment, change, ...lateSeconds };
        const kind = (['drop', 'lose-answer', 'lose-answer'] as const)[draw(8)];
        insert(steps, kind === undefined ? deliver : { do: kind, payment, change });
      }
    }
  }
  const crowded = steps.flatMap((step): ExplorationStep[] => {
    if (step.do !== 'deliver') return [step];
    const chance = draw(8);
    if (chance === 0) return [{ ...step, atOnce: true }];
    return chance < 3 ? [step, { ...step, atOnce: true }] : [step];
  });
  const restarts = draw(MAX_RESTARTS + 1);
  for (let count = 0; count < restarts; count += 1) insert(crowded, { do: 'restart' });
  return crowded;
}
