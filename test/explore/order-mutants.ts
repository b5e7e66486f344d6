import { listMutants } from './mutant.js';

/** Of the attempts at an order. */
export const orderMutants = listMutants({
  'src/store/order-steps.ts': {
    // which attempt a call means
    'stored.replacedBy !== undefined || isDeclined(stored, declined);': {
      'isDeclined(stored, declined);': 'an order, replaced while a customer may try again',
      'stored.replacedBy !== undefined;': 'an order, two tabs',
    },
    "if (state !== 'created' || payment === undefined) return false;": {
      'if (payment === undefined) return false;':
        'none: a payment of which a callback has told is created',
    },
    'first.row.order !== undefined)\n    return undefined;': {
      'false)\n    return undefined;': 'an order, two tabs',
    },
    'const payer = later.find(({ row }) => row.paidBy !== undefined);': {
      'const payer = undefined;': 'an order, from the first click',
    },
    '(first.row.paidBy === undefined ? undefined : first);': {
      'undefined;': 'an order, a late paid',
    },
    "if (count === 1 && !isTriedAgain) return { is: 'open', attempt: wanted };": {
      '': 'none: a call with another body for a payment is not told that it differs',
    },
    'if (paid !== undefined) return': { 'if (false) return': 'an order, a late paid' },
    "if (!isTriedAgain) return { is: 'open', attempt: rename(": {
      "if (false) return { is: 'open', attempt: rename(": 'an order, two tabs',
    },
    'count === 1 ? order : referenceOf(latest.stored);': {
      'order;': 'an order, declined twice',
      'referenceOf(latest.stored);': 'an order, another program',
    },
    // replacing
    "if (row.replacedBy !== undefined) return 'replaced';": {
      '': 'an order, replaced beside a click',
    },
    "if (paidBy !== undefined) return 'paid';": { '': 'an order, replaced' },
    "stored.state === 'sending' || stored.state": {
      'stored.state': 'an order, replaced while it is sent',
    },
    "|| stored.state === 'unresolved' ?": { '?': 'an order, replaced while it is sent' },
    "state === 'recorded' ? { replacedBy, state: 'rejected' } :": {
      '': 'an order, replaced while it is sent',
    },
    "if (isRepetition) return state === 'unresolved';": {
      'if (isRepetition) return false;': 'an order, a late paid, idempotency',
    },
    "return state === 'recorded' || state === 'rejected';": {
      "return state === 'rejected';": 'an order, a late paid',
      "return state === 'recorded';": 'an order, recorded twice in place of it, a late paid',
    },
  },
  'src/store/payment-steps.ts': {
    'return isDone ? yield* this.#recordOne(attempt) :': {
      return: 'an order, replaced twice',
      'return true ? yield* this.#recordOne(attempt) :':
        'none: no scene has another order under the name of an attempt',
    },
    'row.order ?? JSON.stringify(replaces);': {
      'JSON.stringify(replaces);': 'an order, declined twice',
    },
    'row.order !== undefined && isPaidByAnother(': {
      'isPaidByAnother(':
        'none: a first attempt that waits to be sent, or was refused, is paid by nothing',
      'false && isPaidByAnother(': 'an order, a late paid',
    },
    "row.state === 'recorded' ? ({ state: 'rejected' } as const) : undefined;": {
      'undefined;': 'an order, record, send, a late paid',
    },
  },
  'src/store/steps.ts': {
    // claiming
    'row.replacedBy !== undefined || !mayBeOrder(row, intent)) return false;': {
      '!mayBeOrder(row, intent)) return false;': 'an order, replaced while it is sent',
      'row.replacedBy !== undefined) return false;':
        'none: nobody calls create without replaces for the reference of an attempt',
    },
    'if (row.replacedBy !== undefined) return undefined;': {
      '': 'none: a call for the order records its latest attempt',
    },
  },
  'src/store/memory-callbacks.ts': {
    // callbacks
    'entry?.row.order === undefined': { 'true || entry === undefined': 'an order, a late paid' },
    'if (paidBy !== undefined) this.firstOf(entry).row.paidBy = paidBy;': {
      '': 'an order, from the first click',
    },
    'const first = this.firstOf(entry);': {
      'const first = entry;': 'an order, callbacks of two attempts at once',
    },
    'if (first.isBusy || first.row.order !== undefined) return 0;': {
      'if (first.isBusy) return 0;': 'an order, a late paid, pruned',
    },
  },
  'src/store/change-steps.ts': {
    'row?.order === undefined ? change.full.merchantPaymentReference :': {
      'true ? change.full.merchantPaymentReference :': 'an order, from the first click',
    },
    '? change.isPaid || row?.replacedBy === undefined': {
      '? true': 'an order, a late change of the older attempt',
      '? row?.replacedBy === undefined': 'an order, a late paid',
    },
  },
  'src/store/sending.ts': {
    // calls
    'if (!mayBeOrder(stored, intent)) throw referenceOfAttempt();': {
      '': 'none: nobody calls create without replaces for the reference of an attempt',
    },
    "if (replayed && declined && (isPaid || isOver(stored, declined))) return 'return-over';": {
      '': 'an order, two tabs',
    },
    "if (isPaid) throw notReplaceable('paid');": {
      '': 'none: the call claims it in vain until its deadline, which a test of the contract notices',
    },
    'if (stored.replacedBy !== undefined) return false;': {
      '': 'none: the call claims it in vain until its deadline, which a test of the contract notices',
    },
    'declined && (isPaid || isOver(stored, declined))': {
      'declined && isOver(stored, declined)': 'an order, a late paid',
      'declined && isPaid': 'an order, two tabs',
    },
  },
  'src/store/payment-engine.ts': {
    'if (recorded.refused !== undefined) continue;': {
      '': 'none: in memory nothing happens between the two decisions of record()',
    },
    'const isPaid = recorded.intent === undefined && stored !== undefined;': {
      'const isPaid = false;': 'an order, a late paid',
    },
    'assertSame(stored, recorded.intent);\n      meant': {
      meant: 'an order, two tabs, other bodies',
    },
    'if (order?.paid !== undefined) return': {
      'if (false) return': 'an order, record, send, a late paid',
    },
    'const latest = order?.latest.key ?? key;': { 'const latest = key;': 'an order, record, send' },
  },
});
