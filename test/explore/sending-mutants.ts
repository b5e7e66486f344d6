import type { Mutant } from './mutant-table.js';

const SENDING = 'src/store/sending.ts';
const CALL_END = 'src/store/call-end.ts';
const SENDER = 'src/store/sending.ts';
const LOOKS = 'src/store/looks.ts';
const RECOVER = 'src/store/recover.ts';
const LISTS = 'src/store/list-attention.ts';

/** Of what carries the decisions out. */
export const sendingMutants: readonly Mutant[] = [
  { file: SENDING, from: 'if (isLongEnough) return', to: 'if (true) return', scene: 'slow claims' },
  {
    file: CALL_END,
    from: "isInDoubt = requestOutcome === 'unknown' || isConflict(answer) || isRepetition;",
    to: "isInDoubt = requestOutcome === 'unknown' || isRepetition;",
    scene: 'a customer',
  },
  {
    file: CALL_END,
    from: "isInDoubt = requestOutcome === 'unknown' || isConflict(answer) || isRepetition;",
    to: "isInDoubt = requestOutcome === 'unknown' || isConflict(answer);",
    scene: 'idempotency',
  },
  {
    file: SENDING,
    from: 'if (result.serviceRecord !== undefined) await backend.settle(key, result.serviceRecord);',
    to: '',
    scene: 'another program',
  },
  {
    file: CALL_END,
    from: "if (requestOutcome === 'accepted' && isOurs) {",
    to: 'if (false) {',
    scene: 'a customer',
  },
  {
    file: CALL_END,
    from: "requestOutcome === 'not-sent' ||",
    to: '',
    scene: 'record, send',
  },
  {
    file: CALL_END,
    from: '(!allowsRejected && !isRefusal(answer))',
    to: 'false',
    redundant: 'no scene has something before the service that turns recover() away',
  },
  {
    file: SENDING,
    from: "state: isRepetition ? 'unresolved' : 'recorded'",
    to: "state: 'recorded'",
    scene: 'slow claims, idempotency',
  },
  {
    file: SENDER,
    from: 'if (replayed && isFree(stored, intent)) {',
    to: 'if (false) {',
    redundant: 'in memory nobody gives up between a claim and the read after it',
  },
  {
    file: SENDER,
    from: '  assertSame(stored, intent);\n  return replayed',
    to: '  return replayed',
    scene: 'two customers, other bodies',
  },
  {
    file: SENDER,
    from: "return replayed && stored.state === 'sending' && !isLate ?",
    to: 'return false ?',
    scene: 'two customers',
  },
  {
    file: LOOKS,
    from: 'if (!this.#isOver(listed)) return;',
    to: '',
    scene: 'look',
  },
  {
    file: RECOVER,
    from: 'sendsAgain && !wasRefused(stored.failure);',
    to: 'sendsAgain;',
    redundant: 'the service refuses it again',
  },
  {
    file: LISTS,
    from: "kind === 'unresolved' ? Math.max(ageMs, lifetimeMs) : ageMs",
    to: 'ageMs',
    redundant: 'a decision about what was listed too early is refused',
  },
];
