import type { Mutant } from './mutant-table.js';

const SENDING = 'src/store/sending.ts';
const CALL_END = 'src/store/call-end.ts';
const SENDER = 'src/store/single-sender.ts';
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
    from: 'if (result.finding !== undefined) await backend.settle(key, result.finding);',
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
    from: 'if (replayed && error === undefined && isFree(stored, intent)) {',
    to: 'if (false) {',
    redundant: 'in memory nobody gives up between a claim and the read after it',
  },
  {
    file: SENDER,
    from: 'if (replayed && error === undefined && isFree(stored, intent)) {',
    to: 'if (replayed && isFree(stored, intent)) {',
    scene: 'two customers, one process',
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
    file: SENDER,
    from: 'const known = isTheSame ?',
    to: 'const known = true ?',
    redundant: 'the call is refused later, when the other has ended',
  },
  {
    file: SENDER,
    from: 'if (mayTry && (isCallersOwn(error) || !isTheSame)) return undefined;',
    to: '',
    redundant: 'the call is refused as another body, and the next click sends it',
  },
  {
    file: SENDER,
    from: 'if (isCallersOwn(error) || !isTheSame) return undefined;',
    to: '',
    redundant: "the call throws the other's error, and nothing is sent",
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
