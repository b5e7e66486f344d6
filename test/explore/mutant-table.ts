/** A guard of the engine, and the code without it. */
export interface Mutant {
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
  /** A part of the name of scenes that notice it. @default all quick scenes are tried */
  readonly scene?: string;
  /** Why nothing goes wrong without it. */
  readonly redundant?: string;
}

const STEPS = 'src/store/steps.ts';
const CHANGES = 'src/store/change-steps.ts';
const SENDING = 'src/store/sending.ts';
const MEMORY = 'src/store/memory-callbacks.ts';

export const mutants: readonly Mutant[] = [
  // expire, claim
  {
    file: STEPS,
    from: "state === 'sending' && leaseUntilMs <= nowMs ?",
    to: "state === 'sending' ?",
    scene: 'two customers',
  },
  {
    file: STEPS,
    from: "state === 'sending' && leaseUntilMs <= nowMs ?",
    to: 'false ?',
    scene: 'recover, a crash',
  },
  {
    file: STEPS,
    from: "state === 'sending' && row.owner === owner;",
    to: "state === 'sending';",
    scene: 'two customers',
  },
  {
    file: STEPS,
    from: 'if (!isFree && !isOwn) return',
    to: 'if (false) return',
    scene: 'two customers',
  },
  {
    file: STEPS,
    from: "state === 'unresolved' && (row.leaseUntilMs ?? 0) <= nowMs",
    to: "state === 'unresolved'",
    redundant:
      'recover lists none under a lease; only a second recover, which no scene has, could come between',
  },
  {
    file: STEPS,
    from: "state === 'unresolved' && (row.leaseUntilMs ?? 0) <= nowMs",
    to: '(row.leaseUntilMs ?? 0) <= nowMs',
    scene: 'idempotency',
  },
  {
    file: STEPS,
    from: "const began = state === 'elsewhere' ?",
    to: 'const began = false ?',
    redundant: 'the time at which an order was recorded decides nothing',
  },
  {
    file: STEPS,
    from: 'return intent !== undefined && !isKnown(row);',
    to: 'return intent !== undefined;',
    scene: 'another program',
  },
  {
    file: STEPS,
    from: 'return intent !== undefined && !isKnown(row);',
    to: 'return !isKnown(row);',
    redundant:
      'a row without a payment exists on SQLite alone, while its first change is processed',
  },
  {
    file: STEPS,
    from: "if (row.state === 'rejected') return allowsRejected;",
    to: "if (row.state === 'rejected') return true;",
    redundant:
      'recover claims only what it has listed as recorded; a rejection in between needs a second recover',
  },
  {
    file: STEPS,
    from: '(intent === undefined || intent.digest === row.digest)',
    to: 'true',
    scene: 'two customers, other bodies',
  },
  {
    file: STEPS,
    from: '    lookAtMs: undefined,\n    foundStatus',
    to: '    foundStatus',
    redundant:
      'it only puts off the next look at a payment that was looked at, refused and sent again',
  },
  {
    file: STEPS,
    from: '    attempts: isOwn ? attempts : attempts + 1,',
    to: '    attempts,',
    scene: 'a false success, two people',
  },
  // record
  {
    file: STEPS,
    from: "const isEmpty = row.state === 'elsewhere' && !isKnown(row);",
    to: "const isEmpty = row.state === 'elsewhere';",
    scene: 'another program, record, recover',
  },
  {
    file: STEPS,
    from: "if (row.state === 'rejected') return { state: 'recorded'",
    to: "if (row.state !== 'elsewhere') return { state: 'recorded'",
    scene: 'record, send, a customer',
  },
  // end, decide
  {
    file: STEPS,
    from: 'finding !== undefined && finding.updatedAtUs === undefined;',
    to: 'false;',
    scene: 'a false success, two people',
  },
  {
    file: STEPS,
    from: "return state === 'unresolved' ? change :",
    to: "return state === '' ? change :",
    scene: 'idempotency',
  },
  {
    file: STEPS,
    from: 'const change = { state, failure, owner: undefined, ...finding };',
    to: 'const change = { state, failure, ...finding };',
    scene: 'crash',
  },
  {
    file: STEPS,
    from: 'return isUnresolved\n      ? { decided',
    to: 'return true\n      ? { decided',
    scene: 'a callback, a',
  },
  {
    file: STEPS,
    from: "(isWaiting(row.state) && state === 'rejected')",
    to: 'isWaiting(row.state)',
    redundant:
      'recover says that a payment was not created of unresolved ones alone, and another look comes first',
  },
  {
    file: STEPS,
    from: "isUnresolved || (isWaiting(row.state) && state === 'rejected')",
    to: 'isUnresolved',
    scene: 'a false success',
  },
  {
    file: STEPS,
    from: 'if (!isOpen || row.attempts !== attempts)',
    to: 'if (row.attempts !== attempts)',
    scene: 'a callback, a person',
  },
  {
    file: STEPS,
    from: 'if (!isOpen || row.attempts !== attempts)',
    to: 'if (!isOpen)',
    scene: 'people',
  },
  {
    file: STEPS,
    from: 'if (Math.min(listedAtMs, nowMs) < finalAtMs) {',
    to: 'if (false) {',
    scene: 'looks up',
  },
  { file: STEPS, from: 'Math.min(listedAtMs, nowMs)', to: 'nowMs', scene: 'looks up' },
  {
    file: STEPS,
    from: 'Math.min(listedAtMs, nowMs)',
    to: 'listedAtMs',
    redundant: 'a time in the future is none of a list',
  },
  {
    file: STEPS,
    from: 'Math.max(leaseUntilMs, sentAtMs + lifetimeMs)',
    to: 'sentAtMs + lifetimeMs',
    redundant:
      'a store refuses a lifetime that is shorter than its lease; another process may have a longer lease',
  },
  {
    file: STEPS,
    from: 'Math.max(leaseUntilMs, sentAtMs + lifetimeMs)',
    to: 'leaseUntilMs',
    scene: 'looks up',
  },
  {
    file: STEPS,
    from: ', ...NOTHING_FOUND }',
    to: ' }',
    scene: 'a false success, a person, a callback',
  },
  // waiting, looks
  {
    file: STEPS,
    from: "return attempts === seen ? { state: 'created' } : false;",
    to: "return { state: 'created' };",
    scene: 'a false success, two people',
  },
  {
    file: STEPS,
    from: 'if (!isWaiting(state)) return undefined;\n  return attempts',
    to: 'return attempts',
    scene: 'a false success, two people',
  },
  {
    file: STEPS,
    from: 'isWaiting(row.state) && (row.sentAtMs ?? nowMs) + lifetimeMs <= nowMs',
    to: 'isWaiting(row.state)',
    redundant: 'a look before the lifetime is over is not kept',
  },
  {
    file: STEPS,
    from: 'if (row.attempts !== attempts || !(isUnresolved',
    to: 'if (!(isUnresolved',
    redundant:
      'a look at an earlier attempt was listed before the later one could end, and is not kept',
  },
  {
    file: STEPS,
    from: '  if (listedAtMs < finalAt(row, lifetimeMs)) return undefined;\n  // What',
    to: '  // What',
    scene: 'look',
  },
  {
    file: STEPS,
    from: 'foundStatus: isMissed ? status : undefined,',
    to: 'foundStatus: status,',
    scene: 'look',
  },
  // isLater, settle
  {
    file: STEPS,
    from: 'if (stored.updatedAtUs === undefined) return false;',
    to: '',
    redundant: 'a difference to nothing is NaN, and no comparison holds',
  },
  {
    file: STEPS,
    from: 'if (leftUs !== 0) return leftUs < 0;',
    to: 'if (leftUs !== 0) return false;',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'return !nowPaid && isPaid(',
    to: 'return isPaid(',
    redundant: 'the same paid record is stored again, or not',
  },
  {
    file: STEPS,
    from: 'return !nowPaid && isPaid(',
    to: 'return false && isPaid(',
    scene: 'one instant',
  },
  {
    file: STEPS,
    from: 'told.isPaid && paidBy === undefined ?',
    to: 'told.isPaid ?',
    scene: 'another program',
  },
  {
    file: STEPS,
    from: 'told.isPaid && paidBy === undefined ?',
    to: 'paidBy === undefined ?',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'told.isPaid && paidBy !== undefined && paidBy !== referenceNumber;',
    to: 'false;',
    scene: 'another program, two payments',
  },
  {
    file: STEPS,
    from: "outcome === 'second-payment' || known.second !== undefined || isOther;",
    to: "outcome === 'second-payment' || isOther;",
    scene: 'another program',
  },
  {
    file: STEPS,
    from: "return isOld || isLater(second, told) ? undefined : 'update';",
    to: "return 'update';",
    scene: 'another program',
  },
  {
    file: STEPS,
    from: "return isOld || isLater(second, told) ? undefined : 'update';",
    to: "return isLater(second, told) ? undefined : 'update';",
    redundant:
      'what was processed before is in the record, which is then the later one, or the same',
  },
  {
    file: STEPS,
    from: "return isOld || isLater(second, told) ? undefined : 'update';",
    to: "return isOld ? undefined : 'update';",
    scene: 'another program',
  },
  {
    file: STEPS,
    from: "if (row.state !== 'created' && !isWaiting(row.state)) return {",
    to: 'if (false) return {',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: "if (row.referenceNumber !== finding.referenceNumber) return { outcome: 'second-payment' };",
    to: '',
    scene: 'another program',
  },
  {
    file: STEPS,
    from: "record.state === 'unheard' ? row.state : 'created';",
    to: 'record.state;',
    scene: 'a callback, a look',
  },
  {
    file: STEPS,
    from: 'return context.isOld || isLater(row, told) ?',
    to: 'return isLater(row, told) ?',
    redundant:
      'what was processed before is in the record, which is then the later one, or the same',
  },
  {
    file: STEPS,
    from: 'return context.isOld || isLater(row, told) ?',
    to: 'return context.isOld ?',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'return isOld || isLater(row, told);\n  return',
    to: 'return isLater(row, told);\n  return',
    redundant:
      'what was processed before is in the record, which is then the later one, or the same',
  },
  {
    file: STEPS,
    from: 'return isOld || isLater(row, told);\n  return',
    to: 'return isOld;\n  return',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'return !pays && (isOld || row.paidBy !== undefined);',
    to: 'return !pays && isOld;',
    scene: 'another program',
  },
  {
    file: STEPS,
    from: 'return !pays && (isOld || row.paidBy !== undefined);',
    to: 'return row.paidBy !== undefined;',
    scene: 'another program',
  },
  {
    file: STEPS,
    from: 'return !pays && (isOld || row.paidBy !== undefined);',
    to: 'return isOld || row.paidBy !== undefined;',
    scene: 'another program',
  },
  {
    file: STEPS,
    from: "if (state === 'elsewhere') return isKnown(row) ?",
    to: "if (state === '') return isKnown(row) ?",
    scene: 'another program',
  },
  {
    file: STEPS,
    from: "return isProcessed ? undefined : 'add';",
    to: "return 'add';",
    scene: 'another program, a person',
  },
  // changes
  {
    file: CHANGES,
    from: 'const isOlder = BigInt(newest) > BigInt(change.rank);',
    to: 'const isOlder = false;',
    scene: 'callbacks',
  },
  {
    file: CHANGES,
    from: '{ isOld: isProcessed || isOlder, isProcessed',
    to: '{ isOld: isOlder, isProcessed',
    redundant:
      'what was processed before is in the record, which is then the later one, or the same',
  },
  {
    file: CHANGES,
    from: 'const isLatest = !isOlder && !isBesidePaid(seen, change);',
    to: 'const isLatest = !isOlder;',
    scene: 'one instant',
  },
  {
    file: CHANGES,
    from: 'const isLatest = !isOlder && !isBesidePaid(seen, change);',
    to: 'const isLatest = !isBesidePaid(seen, change);',
    scene: 'callbacks',
  },
  {
    file: CHANGES,
    from: 'const paidBy = settled.change?.paidBy ?? row?.paidBy;',
    to: 'const paidBy = row?.paidBy;',
    redundant: 'the change that pays is of the payment that pays',
  },
  {
    file: CHANGES,
    from: 'isLatest && (paidBy === undefined || paidBy === change.referenceNumber)',
    to: 'isLatest',
    scene: 'another program',
  },
  {
    file: CHANGES,
    from: "secondPayment: settled.outcome === 'second-payment',",
    to: 'secondPayment: false,',
    scene: 'another program',
  },
  {
    file: CHANGES,
    from: 'newest: isOlder ? newest : change.rank,',
    to: 'newest: change.rank,',
    scene: 'three callbacks',
  },
  {
    file: CHANGES,
    from: 'return [isOfRow ? row : undefined, second].some(',
    to: 'return [row, second].some(',
    redundant: 'once a payment has paid, no change of another is current',
  },
  {
    file: CHANGES,
    from: 'return [isOfRow ? row : undefined, second].some(',
    to: 'return [isOfRow ? row : undefined].some(',
    redundant:
      'a payment on the list of second payments is beside one that has paid, or the store has created',
  },
  {
    file: CHANGES,
    from: 'stored.updatedAtUs === change.finding.updatedAtUs &&',
    to: '',
    scene: 'callbacks',
  },
  { file: CHANGES, from: "if (isProcessed) return 'duplicate';", to: '', scene: 'callbacks' },
  {
    file: CHANGES,
    from: "failure?.parked && !policy.runParked ? 'parked' : 'run'",
    to: "failure?.parked ? 'parked' : 'run'",
    scene: 'parked',
  },
  {
    file: CHANGES,
    from: "failure?.parked && !policy.runParked ? 'parked' : 'run'",
    to: "'run'",
    scene: 'parked',
  },
  {
    file: CHANGES,
    from: 'if (!isFailure(error)) return undefined;',
    to: 'return undefined;',
    scene: 'callbacks',
  },
  { file: CHANGES, from: '(failure?.attempts ?? 0) + 1', to: '1', scene: 'parked' },
  {
    file: CHANGES,
    from: 'parked: isEnough || failure?.parked === true,',
    to: 'parked: isEnough,',
    redundant: 'attempts only grow',
  },
  // what carries them out
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
  {
    file: MEMORY,
    from: "if (this.#working.has(key)) return 'busy';",
    to: '',
    scene: 'callbacks at once',
  },
  {
    file: MEMORY,
    from: 'this.change(key, row, change);\n    }\n    if (list',
    to: '}\n    if (list',
    scene: 'callbacks',
  },
];
