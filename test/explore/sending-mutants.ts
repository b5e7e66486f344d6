import type { Mutant } from './mutant-table.js';

const SENDING = 'src/store/sending.ts';

/** Of what carries the decisions out. */
export const sendingMutants: readonly Mutant[] = [
  { file: SENDING, from: 'if (isLongEnough) return', to: 'if (true) return', scene: 'slow claims' },
  {
    file: SENDING,
    from: "if (requestOutcome === 'unknown' || isConflict(error) || isRepetition) {",
    to: "if (requestOutcome === 'unknown' || isRepetition) {",
    scene: 'a customer',
  },
  {
    file: SENDING,
    from: "if (requestOutcome === 'unknown' || isConflict(error) || isRepetition) {",
    to: "if (requestOutcome === 'unknown' || isConflict(error)) {",
    scene: 'idempotency',
  },
  {
    file: SENDING,
    from: 'if (result.finding !== undefined) await backend.settle(key, result.finding);',
    to: '',
    scene: 'another program',
  },
];
