import { listMutants } from './mutant.js';

/** Of what carries the decisions out. */
export const sendingMutants = listMutants({
  'src/store/sending.ts': {
    'if (isLongEnough) return': { 'if (true) return': 'slow claims' },
    'if (result.serviceRecord !== undefined) await backend.settle(key, result.serviceRecord);': {
      '': 'another program',
    },
    "state: isRepetition ? 'unresolved' : 'recorded'": {
      "state: 'recorded'": 'slow claims, idempotency',
    },
    'if (replayed && isFree(stored, intent)) {': {
      'if (false) {': 'none: in memory nobody gives up between a claim and the read after it',
    },
    '  assertSame(stored, intent);\n  return replayed': {
      '  return replayed': 'two customers, other bodies',
    },
    "return replayed && stored.state === 'sending' && !isLate ?": {
      'return false ?': 'two customers',
    },
  },
  'src/store/call-end.ts': {
    "isInDoubt = requestOutcome === 'unknown' || isConflict(answer) || isRepetition;": {
      "isInDoubt = requestOutcome === 'unknown' || isRepetition;": 'a customer',
      "isInDoubt = requestOutcome === 'unknown' || isConflict(answer);": 'idempotency',
    },
    "if (requestOutcome === 'accepted' && isOurs) {": { 'if (false) {': 'a customer' },
    "requestOutcome === 'not-sent' ||": { '': 'record, send' },
    '(!allowsRejected && !isRefusal(answer))': {
      false: 'none: no scene has something before the service that turns recover() away',
    },
  },
  'src/store/looks.ts': {
    'if (!this.#isOver(listed)) return;': { '': 'look' },
  },
  'src/store/recover.ts': {
    'sendsAgain && !wasRefused(stored.failure);': {
      'sendsAgain;': 'none: the service refuses it again',
    },
  },
  'src/store/list-attention.ts': {
    "kind === 'unresolved' ? Math.max(ageMs, lifetimeMs) : ageMs": {
      ageMs: 'none: a decision about what was listed too early is refused',
    },
  },
});
