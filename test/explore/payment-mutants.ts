import type { Mutant } from './mutant-table.js';

const STEPS = 'src/store/steps.ts';

/** Of the decisions about a payment that the store sends. */
export const paymentMutants: readonly Mutant[] = [
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
    scene: 'two recover, idempotency',
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
    scene: 'two recover',
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
    scene: 'a look in vain, a person',
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
    from: 'serviceRecord !== undefined && serviceRecord.updatedAtUs === undefined;',
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
    from: 'const change = { state, failure, owner: undefined, ...serviceRecord };',
    to: 'const change = { state, failure, ...serviceRecord };',
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
    scene: 'a false record',
  },
  {
    file: STEPS,
    from: 'if (!isOpen || row.attempts !== attempts)',
    to: 'if (row.attempts !== attempts)',
    scene: 'another program, a customer, a person',
  },
  {
    file: STEPS,
    from: 'if (!isOpen || row.attempts !== attempts)',
    to: 'if (!isOpen)',
    redundant:
      'who listed an earlier attempt did so before the later claim, which is too early: this names the cause',
  },
  {
    file: STEPS,
    from: 'if (Math.min(listedAtMs, nowMs) < finalAtMs) {',
    to: 'if (false) {',
    scene: 'a false record, a person',
  },
  {
    file: STEPS,
    from: 'Math.min(listedAtMs, nowMs)',
    to: 'nowMs',
    scene: 'a false record, a person',
  },
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
    scene: 'a false record, a person',
  },
  {
    file: STEPS,
    from: ', ...NOTHING_SAID, foundStatus: undefined }',
    to: ' }',
    scene: 'a false record',
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
    scene: 'a false success, two hasty people',
  },
  {
    file: STEPS,
    from: 'isWaiting(row.state) && (row.sentAtMs ?? nowMs) + lifetimeMs <= nowMs',
    to: 'isWaiting(row.state)',
    redundant: 'a look before the lifetime is over is not kept, and the next pass looks again',
  },
  {
    file: STEPS,
    from: 'if (row.attempts !== attempts || !(isUnresolved',
    to: 'if (!(isUnresolved',
    scene: 'two recover look up',
  },
  {
    file: STEPS,
    from: 'foundStatus: isMissed ? JSON.stringify(status) : undefined,',
    to: 'foundStatus: JSON.stringify(status),',
    scene: 'a look that finds nothing new',
  },
];
