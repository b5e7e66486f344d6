import { describe, expect, it } from 'vitest';
import type { History } from './history.js';
import { findOrderMistakes } from './order-history.js';

interface Told {
  readonly isSecond?: boolean;
  readonly beganAtMs?: number;
}

/** What is left of an order whose payments are O and O-2, with the changes that were done, as the work was told. */
function history(
  done: readonly (readonly [reference: string, status: string, told?: Told])[],
  left: Partial<History>,
): History {
  const named = done.map(([reference, status, told = {}], index) => {
    const { isSecond = false, beganAtMs = index * 100 } = told;
    const change = { key: `${reference}-${status}`, reference, order: 'O', status };
    return { change, isSecond, beganAtMs };
  });
  return {
    changes: named.map(({ change }) => ({ ...change, acknowledgedAtMs: 900 })),
    effects: named.map(({ change, isSecond, beganAtMs }) => ({
      ...change,
      isCurrent: true,
      isSecond,
      beganAtMs,
      doneAtMs: beganAtMs + 50,
    })),
    orders: new Map([['O', 'paid']]),
    latest: new Map([['O', 'O-2']]),
    ...left,
  };
}

const DECLINED = ['O', 'declined'] as const;

describe('findOrderMistakes', () => {
  it.each<[string, History]>([
    ['the latest payment has paid', history([DECLINED, ['O-2', 'paid']], {})],
    [
      'an older one has paid, and the latest is listed',
      history([DECLINED, ['O', 'paid'], ['O-2', 'paid', { isSecond: true }]], {
        seconds: new Set(['O-2']),
      }),
    ],
    [
      'the payer has gone on',
      history([DECLINED, ['O', 'paid'], ['O', 'settled'], ['O-2', 'declined']], {
        orders: new Map([['O', 'settled']]),
      }),
    ],
    [
      'the latest was not sent',
      history([['O', 'authorized'], DECLINED], { orders: new Map([['O', 'authorized']]) }),
    ],
  ])('finds none in an order of which %s', (_, left) => {
    expect(findOrderMistakes(left)).toEqual([]);
  });

  it.each<[string, History, string[]]>([
    [
      'that two payments have paid it',
      history(
        [
          ['O', 'paid'],
          ['O-2', 'paid'],
        ],
        {},
      ),
      ['O: 2 payments have paid it, not 1 of 2'],
    ],
    [
      'that a paid order is told of as a second payment alone',
      history([['O-2', 'paid', { isSecond: true }]], { seconds: new Set(['O-2']) }),
      ['O: 0 payments have paid it, not 1 of 1'],
    ],
    [
      'that a second payment is not listed',
      history(
        [
          ['O', 'paid'],
          ['O-2', 'paid', { isSecond: true }],
        ],
        {},
      ),
      ['O: O-2 is a second payment and not listed'],
    ],
    [
      'that another payment is listed',
      history([DECLINED, ['O-2', 'paid']], { seconds: new Set(['O']) }),
      ['O: O is no second payment and listed'],
    ],
    [
      'a status that is not the payer’s',
      history(
        [
          ['O', 'paid'],
          ['O-2', 'declined'],
        ],
        { orders: new Map([['O', 'declined']]) },
      ),
      ['O: the order is declined, not paid'],
    ],
    [
      'a status that is not the latest payment’s',
      history([DECLINED, ['O-2', 'authorized']], { orders: new Map([['O', 'declined']]) }),
      ['O: the order is declined, not authorized'],
    ],
    [
      'a work that overlaps that of another payment',
      history([DECLINED, ['O-2', 'paid', { beganAtMs: 20 }]], {}),
      ['O: paid was begun while declined was being processed'],
    ],
  ])('finds %s', (_, left, mistakes) => {
    expect(findOrderMistakes(left)).toEqual(mistakes);
  });
});
