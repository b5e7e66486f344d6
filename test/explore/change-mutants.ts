import { listMutants } from './mutant.js';

/** Of the decisions about a change. */
export const changeMutants = listMutants({
  'src/store/change-steps.ts': {
    'newest !== change.rank && BigInt(newest) > BigInt(change.rank);': {
      'const isOlder = false;': 'callbacks',
    },
    '{ isOld: isProcessed || isOlder, isProcessed': {
      '{ isOld: isOlder, isProcessed':
        'none: what was processed before is in the record, which is then the later one, or the same',
    },
    'const isLatest = !isOlder && !isBesidePaid(seen, change);': {
      'const isLatest = !isOlder;': 'one instant',
      'const isLatest = !isBesidePaid(seen, change);': 'callbacks',
    },
    ': row.paidBy === change.referenceNumber;': { ': true;': 'another program' },
    'secondPayment: settled.isSecond,': { 'secondPayment: false,': 'another program' },
    'newest: isOlder ? newest : change.rank,': { 'newest: change.rank,': 'three callbacks' },
    'return [isOfRow ? row : undefined, second].some(': {
      'return [row, second].some(':
        'another program, a refund at the instant of the second payment',
      'return [isOfRow ? row : undefined].some(':
        'another program, a second payment of one instant',
    },
    'stored.updatedAtUs === change.serviceRecord.updatedAtUs &&': { '': 'callbacks' },
    "if (isProcessed) return 'duplicate';": { '': 'callbacks' },
    "failure?.parked && !policy.runParked ? 'parked' : 'run'": {
      "failure?.parked ? 'parked' : 'run'": 'parked',
      "'run'": 'parked',
    },
    'if (!isFailure(error)) return undefined;': { 'return undefined;': 'callbacks' },
    '(failure?.attempts ?? 0) + 1': { '1': 'parked after' },
    'parked: isEnough || failure?.parked === true,': {
      'parked: isEnough,': 'none: attempts only grow',
    },
  },
  'src/store/memory-callbacks.ts': {
    "if (first.isBusy) return { outcome: 'busy' };": { '': 'callbacks at once' },
    'this.change(entry, change);\n    const paidBy': { 'const paidBy': 'callbacks' },
    '({ item }) => item.attempts === attempts);': { '() => true);': 'parked after' },
    // prune
    'ENDED.includes(row.state) &&\n': { '': 'prune' },
    '&&\n      !(findNamed(this.#failures, key) || findNamed(this.#seconds, key));': {
      ';': 'prune',
    },
    'row.changedAtMs < beforeMs &&\n': { '': 'prune' },
    '|| findNamed(this.#failures, key, referenceNumber) !== undefined;': { ';': 'prune' },
  },
  'src/store/memory-entries.ts': {
    'if (item === undefined || !isSame(item)) return': {
      'if (item === undefined) return': 'another program, two payments, refunded, a person',
    },
  },
});
