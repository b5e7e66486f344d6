import { listMutants } from './mutant.js';

/** Of the decisions about a payment that the store sends. */
export const paymentMutants = listMutants({
  'src/store/steps.ts': {
    // expire, claim
    "state === 'sending' && leaseUntilMs <= nowMs ?": {
      "state === 'sending' ?": 'two customers',
      'false ?': 'recover, a crash',
    },
    "state === 'sending' && row.owner === owner;": { "state === 'sending';": 'two customers' },
    'if (!isFree && !isOwn) return': { 'if (false) return': 'two customers' },
    "state === 'unresolved' && (row.leaseUntilMs ?? 0) <= nowMs": {
      "state === 'unresolved'": 'two recover, idempotency',
      '(row.leaseUntilMs ?? 0) <= nowMs': 'idempotency',
    },
    "const began = state === 'elsewhere' ?": {
      'const began = false ?': 'none: the time at which an order was recorded decides nothing',
    },
    'return intent !== undefined && !isKnown(row);': {
      'return intent !== undefined;': 'another program',
      'return !isKnown(row);':
        'none: a row without a payment exists on SQLite alone, while its first change is processed',
    },
    "if (row.state === 'rejected') return allowsRejected;": {
      "if (row.state === 'rejected') return true;": 'two recover',
    },
    '(intent === undefined || intent.digest === row.digest)': {
      true: 'two customers, other bodies',
    },
    '    lookAtMs: undefined,\n    foundStatus': { '    foundStatus': 'a look in vain, a person' },
    '    attempts: isOwn ? attempts : attempts + 1,': {
      '    attempts,': 'a false success, two people',
    },
    // record
    "const isEmpty = row.state === 'elsewhere' && !isKnown(row);": {
      "const isEmpty = row.state === 'elsewhere';": 'another program, record, recover',
    },
    "if (row.state === 'rejected') return { state: 'recorded'": {
      "if (row.state !== 'elsewhere') return { state: 'recorded'": 'record, send, a customer',
    },
    // end, decide
    'serviceRecord !== undefined && serviceRecord.updatedAtUs === undefined;': {
      'false;': 'a false success, two people',
    },
    "return state === 'unresolved' ? change :": { "return state === '' ? change :": 'idempotency' },
    'const change = { state, failure, owner: undefined, ...serviceRecord };': {
      'const change = { state, failure, ...serviceRecord };': 'crash',
    },
    'return isUnresolved\n      ? { decided': { 'return true\n      ? { decided': 'a callback, a' },
    "(isWaiting(row.state) && state === 'rejected' && toldAtMs(row) <= listedAtMs)": {
      "(isWaiting(row.state) && state === 'rejected')":
        'none: its people do not look before others decide, and decide after them; the contract has one',
      '(isWaiting(row.state) && toldAtMs(row) <= listedAtMs)':
        'none: recover says that a payment was not created of unresolved ones alone, and another look comes first',
    },
    "isUnresolved || (isWaiting(row.state) && state === 'rejected' && toldAtMs(row) <= listedAtMs)":
      {
        isUnresolved: 'a false record',
      },
    'if (!isOpen || row.attempts !== attempts)': {
      'if (row.attempts !== attempts)': 'another program, a customer, a person',
      'if (!isOpen)':
        'none: who listed an earlier attempt did so before the later claim, which is too early: this names the cause',
    },
    'if (Math.min(listedAtMs, nowMs) < finalAtMs) {': {
      'if (false) {': 'a false record, a person',
    },
    'Math.min(listedAtMs, nowMs)': {
      nowMs: 'a false record, a person',
      listedAtMs: 'none: a time in the future is none of a list',
    },
    'Math.max(leaseUntilMs, sentAtMs + lifetimeMs)': {
      'sentAtMs + lifetimeMs':
        'none: a store refuses a lifetime that is shorter than its lease; another process may have a longer lease',
      leaseUntilMs: 'a false record, a person',
    },
    ', ...NOTHING_SAID, foundStatus: undefined }': { ' }': 'a false record' },
    // waiting, looks
    "return attempts === seen ? { state: 'created' } : false;": {
      "return { state: 'created' };": 'a false success, two people',
    },
    'if (!isWaiting(state)) return undefined;\n  return attempts': {
      'return attempts': 'a false success, two hasty people',
    },
    'isWaiting(row.state) && (row.sentAtMs ?? nowMs) + lifetimeMs <= nowMs': {
      'isWaiting(row.state)':
        'none: a look before the lifetime is over is not kept, and the next pass looks again',
    },
    'if (row.attempts !== attempts || !(isUnresolved': {
      'if (!(isUnresolved': 'two recover look up',
    },
    'foundStatus: isMissed ? JSON.stringify(status) : undefined,': {
      'foundStatus: JSON.stringify(status),': 'a look that finds nothing new',
    },
  },
});
