import type { Mutant } from './mutant-table.js';

const CHANGES = 'src/store/change-steps.ts';
const MEMORY = 'src/store/memory-callbacks.ts';

/** Of the decisions about a change. */
export const changeMutants: readonly Mutant[] = [
  {
    file: CHANGES,
    from: 'newest !== change.rank && BigInt(newest) > BigInt(change.rank);',
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
    from: ': row.paidBy === change.referenceNumber;',
    to: ': true;',
    scene: 'another program',
  },
  {
    file: CHANGES,
    from: 'secondPayment: settled.isSecond,',
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
    scene: 'another program, a refund at the instant of the second payment',
  },
  {
    file: CHANGES,
    from: 'return [isOfRow ? row : undefined, second].some(',
    to: 'return [isOfRow ? row : undefined].some(',
    scene: 'another program, a second payment of one instant',
  },
  {
    file: CHANGES,
    from: 'stored.updatedAtUs === change.serviceRecord.updatedAtUs &&',
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
  { file: CHANGES, from: '(failure?.attempts ?? 0) + 1', to: '1', scene: 'parked after' },
  {
    file: CHANGES,
    from: 'parked: isEnough || failure?.parked === true,',
    to: 'parked: isEnough,',
    redundant: 'attempts only grow',
  },
  {
    file: MEMORY,
    from: "if (first.isBusy) return { outcome: 'busy' };",
    to: '',
    scene: 'callbacks at once',
  },
  {
    file: MEMORY,
    from: 'this.change(entry, change);\n    const paidBy',
    to: 'const paidBy',
    scene: 'callbacks',
  },
  {
    file: 'src/store/memory-entries.ts',
    from: 'if (item === undefined || !isSame(item)) return',
    to: 'if (item === undefined) return',
    scene: 'another program, two payments, refunded, a person',
  },
  {
    file: MEMORY,
    from: '({ item }) => item.attempts === attempts);',
    to: '() => true);',
    scene: 'parked after',
  },
  // prune
  { file: MEMORY, from: 'ENDED.includes(row.state) &&\n', to: '', scene: 'prune' },
  {
    file: MEMORY,
    from: '&&\n      !(findNamed(this.#failures, key) || findNamed(this.#seconds, key));',
    to: ';',
    scene: 'prune',
  },
  {
    file: MEMORY,
    from: 'row.changedAtMs < beforeMs &&\n',
    to: '',
    scene: 'prune',
  },
  {
    file: MEMORY,
    from: '|| findNamed(this.#failures, key, referenceNumber) !== undefined;',
    to: ';',
    scene: 'prune',
  },
];
