// The row of an order and the store's steps, as model/order.pml and model/payments.pml have them: the same states, and
// the same guards of every step that changes the row. What surrounds the store there (the service, the clock, who calls)
// is left out, so any step may be tried at any time. test/model/spin.ts compares both.

import { isDeepStrictEqual } from 'node:util';
import type { Model } from './traces.js';

export type State =
  | 'nothing'
  | 'elsewhere'
  | 'recorded'
  | 'sending'
  | 'unresolved'
  | 'rejected'
  | 'unheard'
  | 'created';

/** One of two payments of the order at the service; 0 for none, or if it is unknown. */
export type Payment = 0 | 1 | 2;

/** A claim, by its number, which is also that of its attempt; 0 for none. */
export type Token = 0 | 1 | 2 | 3;

export interface Row {
  readonly state: State;
  /** Which of two bodies is stored. */
  readonly body: 'A' | 'B' | undefined;
  readonly owner: Token;
  readonly lease: Token;
  /** Whether that lease has ended. */
  readonly isOver: boolean;
  readonly attempts: Token;
  readonly reference: Payment;
  readonly paidBy: Payment;
  /** Whether payment 1, and payment 2, is on the list of second payments. */
  readonly listed: readonly [boolean, boolean];
}

export type Outcome = 'not-sent' | 'refused' | 'unknown' | 'accepted' | 'answered';

export type Step =
  | { readonly name: 'claim'; readonly body: 'A' | 'B' | undefined }
  | { readonly name: 'record'; readonly body: 'A' | 'B' }
  | { readonly name: 'expire' }
  | { readonly name: 'tick' }
  | {
      readonly name: 'finish';
      readonly token: Token;
      readonly outcome: Outcome;
      readonly payment: Payment;
    }
  | {
      readonly name: 'resolve';
      readonly as: 'rejected' | 'recorded' | 'unheard';
      readonly payment: Payment;
      readonly seen: Token;
    }
  | { readonly name: 'callback'; readonly payment: Payment; readonly isPaid: boolean };

export const CLAIMS = 3;

export const NOTHING: Row = {
  state: 'nothing',
  body: undefined,
  owner: 0,
  lease: 0,
  isOver: false,
  attempts: 0,
  reference: 0,
  paidBy: 0,
  listed: [false, false],
};

const isCreated = ({ state }: Row) => state === 'unheard' || state === 'created';
const isNotOurs = ({ state }: Row) => state === 'nothing' || state === 'elsewhere';
export const isExpired = ({ state, isOver }: Row): boolean => state === 'sending' && isOver;

/** The row after a step. */
export function after(row: Row, step: Step): Row {
  switch (step.name) {
    case 'claim':
      return mayClaim(row, step.body) ? claim(row, step.body) : expire(row);
    case 'record':
      return isNotOurs(row) || row.state === 'rejected'
        ? { ...row, state: 'recorded', body: step.body }
        : row;
    case 'expire':
      return expire(row);
    case 'tick':
      return { ...row, isOver: row.lease !== 0 };
    case 'finish':
      return finish(row, step);
    case 'resolve':
      return mayResolve(row, step) ? end({ ...row, reference: step.payment }, step.as) : row;
    case 'callback':
      return settle(row, step.payment, { isPaid: step.isPaid, isCallback: true });
  }
}

export function end(row: Row, state: State): Row {
  const ended = { ...row, state, owner: 0 } as const;
  return state === 'unresolved' ? ended : { ...ended, lease: 0, isOver: false };
}

function expire(row: Row): Row {
  return isExpired(row) ? { ...row, state: 'unresolved' } : row;
}

/** Without a body, it is recover() that claims. */
export function mayClaim(row: Row, body: 'A' | 'B' | undefined): boolean {
  return (
    (body !== undefined || !isNotOurs(row)) &&
    row.state !== 'sending' &&
    row.state !== 'unresolved' &&
    !isCreated(row) &&
    (body !== undefined || row.state !== 'rejected') &&
    (row.state !== 'recorded' || body === undefined || row.body === body)
  );
}

function claim(row: Row, body: 'A' | 'B' | undefined): Row {
  const token = (row.attempts + 1) as Token;
  const lease = { owner: token, lease: token, isOver: false, attempts: token };
  return { ...row, ...lease, state: 'sending', body: body ?? row.body };
}

function finish(
  row: Row,
  { token, outcome, payment }: { token: Token; outcome: Outcome; payment: Payment },
): Row {
  const exists = outcome === 'accepted' || outcome === 'answered';
  if (row.owner !== token) {
    return exists ? settle(row, payment, { isPaid: false, isCallback: false }) : row;
  }
  if (exists) return end({ ...row, reference: payment }, 'unheard');
  const states = { 'not-sent': 'recorded', refused: 'rejected', unknown: 'unresolved' } as const;
  return end(row, states[outcome]);
}

export function mayResolve(
  row: Row,
  { as, seen }: { as: 'rejected' | 'recorded' | 'unheard'; seen: Token },
): boolean {
  return (
    (row.state === 'unresolved' || isExpired(row)) &&
    row.attempts === seen &&
    (as === 'unheard' || row.lease === 0 || row.isOver)
  );
}

export function settle(
  row: Row,
  payment: Payment,
  { isPaid, isCallback }: { isPaid: boolean; isCallback: boolean },
): Row {
  const paidBy = isPaid && row.paidBy === 0 ? payment : row.paidBy;
  const isPaidTwice = isPaid && row.paidBy !== 0 && row.paidBy !== payment;
  const isAnother = isCreated(row) && row.reference !== 0 && row.reference !== payment;
  const listed = row.listed.map(
    (isListed, index) =>
      isListed || (payment === index + 1 && (isPaidTwice || (isAnother && !isNotOurs(row)))),
  ) as unknown as Row['listed'];
  const known = { ...row, paidBy, listed };
  if (isNotOurs(row)) return { ...known, state: 'elsewhere' };
  if (!isCreated(row) || (row.reference === 0 && payment !== 0)) {
    return end({ ...known, reference: payment }, isCallback ? 'created' : 'unheard');
  }
  return payment !== 0 && row.reference === payment && isCallback
    ? { ...known, state: 'created' }
    : known;
}

const TOKENS = [1, 2, 3] as const;
const BODIES = ['A', 'B'] as const;
const PAYMENTS = [1, 2] as const;
const ALWAYS: readonly Step[] = [
  ...BODIES.map((body) => ({ name: 'record', body }) as const),
  { name: 'expire' },
  ...PAYMENTS.flatMap((payment) =>
    [false, true].map((isPaid) => ({ name: 'callback', payment, isPaid }) as const),
  ),
];

const ENDS = [
  ['not-sent', 0],
  ['refused', 0],
  ['unknown', 0],
  ['accepted', 0],
  ['answered', 1],
  ['answered', 2],
] as const;

/** The claims that were granted and have not ended are open. */
export interface Place {
  readonly row: Row;
  readonly open: readonly Token[];
}

/** model/payments.pml. */
export const payments: Model<Place, Step> = {
  start: { row: NOTHING, open: [] },
  offers,
  after({ row, open }, step) {
    const changed = after(row, step);
    if (step.name === 'finish') {
      return { row: changed, open: open.filter((token) => token !== step.token) };
    }
    const isGranted = changed.attempts > row.attempts;
    return { row: changed, open: isGranted ? [...open, changed.attempts] : open };
  },
  isSame: (one, other) => isDeepStrictEqual(one.row, other.row),
};

function offers({ row, open }: Place): readonly Step[] {
  const claims = [...BODIES, undefined]
    .filter((body) => row.attempts < CLAIMS || !mayClaim(row, body))
    .map((body) => ({ name: 'claim', body }) as const);
  const ends = open.flatMap((token) =>
    ENDS.map(([outcome, payment]) => ({ name: 'finish', token, outcome, payment }) as const),
  );
  const decisions = TOKENS.slice(0, row.attempts).flatMap((seen) =>
    (['rejected', 'recorded', 'unheard'] as const).map((as) => {
      return { name: 'resolve', as, payment: as === 'unheard' ? 1 : 0, seen } as const;
    }),
  );
  const ticks = row.lease !== 0 && !row.isOver ? [{ name: 'tick' } as const] : [];
  return [...claims, ...ALWAYS, ...ticks, ...ends, ...decisions];
}
