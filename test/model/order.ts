// The row of an order, and what a callback makes of it: `end` and `settle` of src/store/steps.ts. It has at most two
// payments at the service, numbered 1 and 2.

/** `nothing`: there is no row. */
export type State = 'nothing' | 'elsewhere' | 'sending' | 'unheard' | 'created';

/** One of two payments of the order at the service; 0 for none, or if it is unknown. */
export type Payment = 0 | 1 | 2;

export interface Row {
  readonly state: State;
  /** The body of the request, by its name. */
  readonly body: string | undefined;
  /** The claim that may store its end; 0 for none. */
  readonly owner: 0 | 1;
  /** The claim whose lease is stored; 0 for none. */
  readonly lease: 0 | 1;
  readonly attempts: 0 | 1;
  readonly reference: Payment;
  readonly paidBy: Payment;
  /** Whether payment 1, and payment 2, is on the list of second payments. */
  readonly listed: readonly [boolean, boolean];
}

export const NOTHING: Row = {
  state: 'nothing',
  body: undefined,
  owner: 0,
  lease: 0,
  attempts: 0,
  reference: 0,
  paidBy: 0,
  listed: [false, false],
};

const isCreated = ({ state }: Row) => state === 'unheard' || state === 'created';
const isNotOurs = ({ state }: Row) => state === 'nothing' || state === 'elsewhere';

export function end(row: Row, state: State): Row {
  return { ...row, state, owner: 0, lease: 0 };
}

/** @param isOld whether this change, or a newer one of its payment, was processed before */
export function settle(
  row: Row,
  payment: Payment,
  { isPaid, isOld }: { readonly isPaid: boolean; readonly isOld: boolean },
): Row {
  const pays = isPaid && row.paidBy === 0;
  const isPaidTwice = isPaid && row.paidBy !== 0 && row.paidBy !== payment;
  const isAnother = isCreated(row) && row.reference !== 0 && row.reference !== payment;
  const listed = row.listed.map(
    (isListed, index) => isListed || (payment === index + 1 && (isPaidTwice || isAnother)),
  ) as unknown as Row['listed'];
  const known = { ...row, paidBy: pays ? payment : row.paidBy, listed };
  if (isNotOurs(row)) {
    // The latest payment counts until one has paid the order.
    const isLatest = row.reference === 0 || pays || (row.paidBy === 0 && !isOld);
    return { ...known, state: 'elsewhere', reference: isLatest ? payment : row.reference };
  }
  if (!isCreated(row) || row.reference === 0)
    return end({ ...known, reference: payment }, 'created');
  return row.reference === payment ? { ...known, state: 'created' } : known;
}
