import type { Mutant } from './mutant-table.js';

const STEPS = 'src/store/steps.ts';

/** Of what a callback makes of an order. */
export const settlingMutants: readonly Mutant[] = [
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
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'return !nowPaid && isPaid(',
    to: 'return false && isPaid(',
    scene: 'one instant',
  },
  {
    file: STEPS,
    from: 'notice.isPaid && paidBy === undefined ?',
    to: 'notice.isPaid ?',
    scene: 'another program',
  },
  {
    file: STEPS,
    from: 'notice.isPaid && paidBy === undefined ?',
    to: 'paidBy === undefined ?',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'notice.isPaid && paidBy !== undefined && paidBy !== referenceNumber;',
    to: 'false;',
    scene: 'another program, two payments',
  },
  {
    file: STEPS,
    from: 'isAnother === true || known.second !== undefined || isOther;',
    to: 'isAnother === true || isOther;',
    scene: 'another program, two payments, refunded',
  },
  {
    file: STEPS,
    from: "return isOld || isLater(second, notice) ? undefined : 'update';",
    to: "return 'update';",
    scene: 'another program',
  },
  {
    file: STEPS,
    from: "return isOld || isLater(second, notice) ? undefined : 'update';",
    to: "return isLater(second, notice) ? undefined : 'update';",
    redundant:
      'what was processed before is in the record, which is then the later one, or the same',
  },
  {
    file: STEPS,
    from: "return isOld || isLater(second, notice) ? undefined : 'update';",
    to: "return isOld ? undefined : 'update';",
    scene: 'another program, two payments, a failure',
  },
  {
    file: STEPS,
    from: "if (row.state !== 'created' && !isWaiting(row.state)) return {",
    to: 'if (false) return {',
    redundant:
      'a row without a callback has no number; a late answer without one, of a payment that exists, comes before any decision',
  },
  {
    file: STEPS,
    from: 'if (row.referenceNumber !== serviceRecord.referenceNumber) return { isAnother: true };',
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
    from: 'return context.isOld || isLater(row, notice) ?',
    to: 'return isLater(row, notice) ?',
    redundant:
      'what was processed before is in the record, which is then the later one, or the same',
  },
  {
    file: STEPS,
    from: 'return context.isOld || isLater(row, notice) ?',
    to: 'return context.isOld ?',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'return isOld || isLater(row, notice);\n  return',
    to: 'return isLater(row, notice);\n  return',
    redundant:
      'what was processed before is in the record, which is then the later one, or the same',
  },
  {
    file: STEPS,
    from: 'return isOld || isLater(row, notice);\n  return',
    to: 'return isOld;\n  return',
    scene: 'callbacks',
  },
  {
    file: STEPS,
    from: 'return !pays && (isOld || row.paidBy !== undefined);',
    to: 'return !pays && isOld;',
    scene: 'another program, two payments',
  },
  {
    file: STEPS,
    from: 'return !pays && (isOld || row.paidBy !== undefined);',
    to: 'return row.paidBy !== undefined;',
    scene: 'another program, two declined',
  },
  {
    file: STEPS,
    from: 'return !pays && (isOld || row.paidBy !== undefined);',
    to: 'return isOld || row.paidBy !== undefined;',
    scene: 'a refund overtakes the payment that pays',
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
  {
    file: STEPS,
    from: 'isOwn && isLater(row, notice) ? row',
    to: 'false ? row',
    scene: 'another program, a refund at the instant of the second payment',
  },
];
