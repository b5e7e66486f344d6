import type { Mutant } from './mutant-table.js';

const ORDER = 'src/store/order-steps.ts';
const STEPS = 'src/store/steps.ts';
const CHANGES = 'src/store/change-steps.ts';
const CALLBACKS = 'src/store/memory-callbacks.ts';
const PAYMENTS = 'src/store/payment-steps.ts';
const SENDER = 'src/store/sending.ts';
const ENGINE = 'src/store/payment-engine.ts';

/** Of the attempts at an order. */
export const orderMutants: readonly Mutant[] = [
  // which attempt a call means
  {
    file: ORDER,
    from: 'stored.replacedBy !== undefined || isDeclined(stored, declined);',
    to: 'isDeclined(stored, declined);',
    scene: 'an order, replaced while a customer may try again',
  },
  {
    file: ORDER,
    from: 'stored.replacedBy !== undefined || isDeclined(stored, declined);',
    to: 'stored.replacedBy !== undefined;',
    scene: 'an order, two tabs',
  },
  {
    file: ORDER,
    from: "if (state !== 'created' || payment === undefined) return false;",
    to: 'if (payment === undefined) return false;',
    redundant: 'a payment of which a callback has told is created',
  },
  {
    file: ORDER,
    from: 'first.row.order !== undefined)\n    return undefined;',
    to: 'false)\n    return undefined;',
    scene: 'an order, two tabs',
  },
  {
    file: ORDER,
    from: 'const payer = later.find(({ row }) => row.paidBy !== undefined);',
    to: 'const payer = undefined;',
    scene: 'an order, from the first click',
  },
  {
    file: ORDER,
    from: '(first.row.paidBy === undefined ? undefined : first);',
    to: 'undefined;',
    scene: 'an order, a late paid',
  },
  {
    file: ORDER,
    from: "if (count === 1 && !isTriedAgain) return { is: 'open', attempt: wanted };",
    to: '',
    redundant: 'a call with another body for a payment is not told that it differs',
  },
  {
    file: ORDER,
    from: 'if (paid !== undefined) return',
    to: 'if (false) return',
    scene: 'an order, a late paid',
  },
  {
    file: ORDER,
    from: "if (!isTriedAgain) return { is: 'open', attempt: rename(",
    to: "if (false) return { is: 'open', attempt: rename(",
    scene: 'an order, two tabs',
  },
  {
    file: ORDER,
    from: 'count === 1 ? order : referenceOf(latest.stored);',
    to: 'order;',
    scene: 'an order, declined twice',
  },
  {
    file: ORDER,
    from: 'count === 1 ? order : referenceOf(latest.stored);',
    to: 'referenceOf(latest.stored);',
    scene: 'an order, another program',
  },
  // replacing
  {
    file: ORDER,
    from: "if (row.replacedBy !== undefined) return 'replaced';",
    to: '',
    scene: 'an order, replaced beside a click',
  },
  {
    file: ORDER,
    from: "if (paidBy !== undefined) return 'paid';",
    to: '',
    scene: 'an order, replaced',
  },
  {
    file: ORDER,
    from: "stored.state === 'sending' || stored.state",
    to: 'stored.state',
    scene: 'an order, replaced while it is sent',
  },
  {
    file: ORDER,
    from: "|| stored.state === 'unresolved' ?",
    to: '?',
    scene: 'an order, replaced while it is sent',
  },
  {
    file: ORDER,
    from: "state === 'recorded' ? { replacedBy, state: 'rejected' } :",
    to: '',
    scene: 'an order, replaced while it is sent',
  },
  {
    file: PAYMENTS,
    from: 'return isDone ? yield* this.#recordOne(attempt) :',
    to: 'return',
    scene: 'an order, replaced twice',
  },
  {
    file: PAYMENTS,
    from: 'return isDone ? yield* this.#recordOne(attempt) :',
    to: 'return true ? yield* this.#recordOne(attempt) :',
    redundant: 'no scene has another order under the name of an attempt',
  },
  {
    file: PAYMENTS,
    from: 'row.order ?? JSON.stringify(replaces);',
    to: 'JSON.stringify(replaces);',
    scene: 'an order, declined twice',
  },
  // claiming
  {
    file: STEPS,
    from: 'row.replacedBy !== undefined || !mayBeOrder(row, intent)) return false;',
    to: '!mayBeOrder(row, intent)) return false;',
    scene: 'an order, replaced while it is sent',
  },
  {
    file: STEPS,
    from: 'row.replacedBy !== undefined || !mayBeOrder(row, intent)) return false;',
    to: 'row.replacedBy !== undefined) return false;',
    redundant: 'nobody calls create without replaces for the reference of an attempt',
  },
  {
    file: STEPS,
    from: 'if (row.replacedBy !== undefined) return undefined;',
    to: '',
    redundant: 'a call for the order records its latest attempt',
  },
  {
    file: PAYMENTS,
    from: 'row.order !== undefined && isPaidByAnother(',
    to: 'isPaidByAnother(',
    redundant: 'a first attempt that waits to be sent, or was refused, is paid by nothing',
  },
  {
    file: PAYMENTS,
    from: 'row.order !== undefined && isPaidByAnother(',
    to: 'false && isPaidByAnother(',
    scene: 'an order, a late paid',
  },
  {
    file: PAYMENTS,
    from: "row.state === 'recorded' ? ({ state: 'rejected' } as const) : undefined;",
    to: 'undefined;',
    scene: 'an order, record, send, a late paid',
  },
  {
    file: ORDER,
    from: "if (isRepetition) return state === 'unresolved';",
    to: 'if (isRepetition) return false;',
    scene: 'an order, a late paid, idempotency',
  },
  {
    file: ORDER,
    from: "return state === 'recorded' || state === 'rejected';",
    to: "return state === 'rejected';",
    scene: 'an order, a late paid',
  },
  {
    file: ORDER,
    from: "return state === 'recorded' || state === 'rejected';",
    to: "return state === 'recorded';",
    scene: 'an order, recorded twice in place of it, a late paid',
  },
  // callbacks
  {
    file: CALLBACKS,
    from: 'entry?.row.order === undefined',
    to: 'true || entry === undefined',
    scene: 'an order, a late paid',
  },
  {
    file: CALLBACKS,
    from: 'if (paidBy !== undefined) this.firstOf(entry).row.paidBy = paidBy;',
    to: '',
    scene: 'an order, from the first click',
  },
  {
    file: CALLBACKS,
    from: 'const first = this.firstOf(entry);',
    to: 'const first = entry;',
    scene: 'an order, callbacks of two attempts at once',
  },
  {
    file: CALLBACKS,
    from: 'if (first.isBusy || first.row.order !== undefined) return 0;',
    to: 'if (first.isBusy) return 0;',
    scene: 'an order, a late paid, pruned',
  },
  {
    file: CHANGES,
    from: 'row?.order === undefined ? change.full.merchantPaymentReference :',
    to: 'true ? change.full.merchantPaymentReference :',
    scene: 'an order, from the first click',
  },
  {
    file: CHANGES,
    from: '? change.isPaid || row?.replacedBy === undefined',
    to: '? true',
    scene: 'an order, a late change of the older attempt',
  },
  {
    file: CHANGES,
    from: '? change.isPaid || row?.replacedBy === undefined',
    to: '? row?.replacedBy === undefined',
    scene: 'an order, a late paid',
  },
  // calls
  {
    file: SENDER,
    from: 'if (!mayBeOrder(stored, intent)) throw referenceOfAttempt();',
    to: '',
    redundant: 'nobody calls create without replaces for the reference of an attempt',
  },
  {
    file: SENDER,
    from: "if (replayed && declined && (isPaid || isOver(stored, declined))) return 'return-over';",
    to: '',
    scene: 'an order, two tabs',
  },
  {
    file: SENDER,
    from: "if (isPaid) throw notReplaceable('paid');",
    to: '',
    redundant:
      'the call claims it in vain until its deadline, which a test of the contract notices',
  },
  {
    file: SENDER,
    from: 'if (stored.replacedBy !== undefined) return false;',
    to: '',
    redundant:
      'the call claims it in vain until its deadline, which a test of the contract notices',
  },
  {
    file: ENGINE,
    from: 'if (recorded.refused !== undefined) continue;',
    to: '',
    redundant: 'in memory nothing happens between the two decisions of record()',
  },
  {
    file: ENGINE,
    from: 'const isPaid = recorded.intent === undefined && stored !== undefined;',
    to: 'const isPaid = false;',
    scene: 'an order, a late paid',
  },
  {
    file: ENGINE,
    from: 'assertSame(stored, recorded.intent);\n      meant',
    to: 'meant',
    scene: 'an order, two tabs, other bodies',
  },
  {
    file: SENDER,
    from: 'declined && (isPaid || isOver(stored, declined))',
    to: 'declined && isOver(stored, declined)',
    scene: 'an order, a late paid',
  },
  {
    file: SENDER,
    from: 'declined && (isPaid || isOver(stored, declined))',
    to: 'declined && isPaid',
    scene: 'an order, two tabs',
  },
  {
    file: ENGINE,
    from: 'if (order?.paid !== undefined) return',
    to: 'if (false) return',
    scene: 'an order, record, send, a late paid',
  },
  {
    file: ENGINE,
    from: 'const latest = order?.latest.key ?? key;',
    to: 'const latest = key;',
    scene: 'an order, record, send',
  },
];
