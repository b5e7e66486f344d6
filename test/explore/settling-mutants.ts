import { listMutants } from './mutant.js';

const isInRecord =
  'none: what was processed before is in the record, which is then the later one, or the same';

/** Of what a callback makes of an order. */
export const settlingMutants = listMutants({
  'src/store/steps.ts': {
    // isLater, settle
    'if (stored.updatedAtUs === undefined) return false;': {
      '': 'none: a difference to nothing is NaN, and no comparison holds',
    },
    'if (leftUs !== 0) return leftUs < 0;': { 'if (leftUs !== 0) return false;': 'callbacks' },
    'return !nowPaid && isPaid(': {
      'return isPaid(': 'callbacks',
      'return false && isPaid(': 'one instant',
    },
    'notice.isPaid && paidBy === undefined;': {
      'notice.isPaid;': 'another program',
      'paidBy === undefined;': 'callbacks',
    },
    'notice.isPaid && paidBy !== undefined && paidBy !== referenceNumber;': {
      'false;': 'another program, two payments',
    },
    'isAnother === true || known.second !== undefined || isOther;': {
      'isAnother === true || isOther;': 'another program, two payments, refunded',
    },
    "return isOld || isLater(second, notice) ? undefined : 'update';": {
      "return 'update';": 'another program',
      "return isLater(second, notice) ? undefined : 'update';": isInRecord,
      "return isOld ? undefined : 'update';": 'another program, two payments, a failure',
    },
    "if (row.state !== 'created' && !isWaiting(row.state)) return {": {
      'if (false) return {':
        'none: a row without a callback has no number; a late answer without one, of a payment that exists, comes before any decision',
    },
    'if (row.referenceNumber !== serviceRecord.referenceNumber) return { isAnother: true };': {
      '': 'another program',
    },
    "record.state === 'unheard' ? row.state : 'created';": {
      'record.state;': 'a callback, a look',
    },
    'return context.isOld || isLater(row, notice) ?': {
      'return isLater(row, notice) ?': isInRecord,
      'return context.isOld ?': 'callbacks',
    },
    'return isOld || isLater(row, notice);\n  return': {
      'return isLater(row, notice);\n  return': isInRecord,
      'return isOld;\n  return': 'callbacks',
    },
    'return !pays && (isOld || row.paidBy !== undefined);': {
      'return !pays && isOld;': 'another program, two payments',
      'return row.paidBy !== undefined;': 'another program, two declined',
      'return isOld || row.paidBy !== undefined;': 'a refund overtakes the payment that pays',
    },
    "if (state === 'elsewhere') return isKnown(row) ?": {
      "if (state === '') return isKnown(row) ?": 'another program',
    },
    "return isProcessed ? undefined : 'add';": { "return 'add';": 'another program, a person' },
    'isOwn && isLater(row, notice) ? row': {
      'false ? row': 'another program, a refund at the instant of the second payment',
    },
  },
});
