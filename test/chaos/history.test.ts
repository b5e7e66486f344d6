import { describe, expect, it } from 'vitest';
import {
  countEffects,
  findMistakes as findOfPayments,
  type Guarantee,
  type History,
} from './history.js';
import { findOrderMistakes } from './order-history.js';

const change = (status: string, acknowledgedAtMs = Number.POSITIVE_INFINITY) => ({
  key: `key-${status}`,
  reference: 'P',
  order: 'P',
  status,
  acknowledgedAtMs,
});
const effect = (name: string, beganAtMs: number, doneAtMs = beganAtMs + 10) => ({
  key: `key-${name.toLowerCase()}`,
  reference: 'P',
  order: 'P',
  status: name.toLowerCase(),
  isSecond: false,
  isCurrent: name === name.toLowerCase(),
  beganAtMs,
  doneAtMs,
});

/** What is left of a payment that became a, b and c, with its effects: in capitals what ran as older. */
function history(statuses: string, order = statuses.replace(/[A-Z]/g, '').at(-1)): History {
  return {
    changes: [change('a', 900), change('b', 900), change('c', 900)],
    effects: [...statuses].map((status, index) => effect(status, index * 100)),
    orders: new Map(order === undefined ? [] : [['P', order]]),
  };
}

const findMistakes = (left: History, guarantee: Guarantee) => [
  ...findOfPayments(left, guarantee),
  ...findOrderMistakes(left),
];

describe('findMistakes', () => {
  it.each([['abc'], ['bAc'], ['cAB'], ['acB']])('finds none in the effects %s', (statuses) => {
    expect(findMistakes(history(statuses), 'exactly-once')).toEqual([]);
    expect(findMistakes(history(statuses), 'at-least-once')).toEqual([]);
  });

  it.each([
    ['', ['P: a is lost', 'P: b is lost', 'P: c is lost', 'P: the order is undefined, not c']],
    ['ab', ['P: c is lost', 'P: the order is b, not c']],
    ['ac', ['P: b is lost']],
    ['acb', ['P: the order is b, not c']],
    ['abxc', ['P: effect of no change']],
    ['Abc', ['P: a was run as older with nothing newer done']],
    ['acBC', ['P: c was run as older with nothing newer done']],
  ])('finds what neither guarantee allows in the effects "%s"', (statuses, mistakes) => {
    expect(findMistakes(history(statuses), 'at-least-once')).toEqual(mistakes);
    expect(findMistakes(history(statuses), 'exactly-once')).toEqual(
      expect.arrayContaining(mistakes),
    );
  });

  it.each([
    ['aabc', ['P: 2 effects of a']],
    ['bac', ['P: a was run as current after a newer one']],
  ])('finds what is not exactly once in the effects "%s"', (statuses, mistakes) => {
    expect(findMistakes(history(statuses), 'at-least-once')).toEqual([]);
    expect(findMistakes(history(statuses), 'exactly-once')).toEqual(mistakes);
  });

  it('finds a wrong order though its effects are right', () => {
    expect(findMistakes(history('abc', 'a'), 'at-least-once')).toEqual([
      'P: the order is a, not c',
    ]);
  });

  it.each([
    [3, []],
    [2, ['P: 2 shipments of 3 changes']],
    [4, ['P: 4 shipments of 3 changes']],
    [undefined, ['P: 0 shipments of 3 changes']],
  ])('finds that the goods were not shipped once for each change: %s', (count, mistakes) => {
    const shipments = new Map(count === undefined ? [] : [['P', count]]);
    const found = findMistakes({ ...history('abcc'), shipments }, 'at-least-once');
    expect(found).toEqual(mistakes);
  });

  it('does not take a newer change whose work did not end for one that is done', () => {
    const { changes, orders } = history('bac');
    const effects = [
      effect('b', 0, Number.POSITIVE_INFINITY),
      effect('A', 1_500),
      effect('b', 2_000),
      effect('c', 2_100),
    ];
    expect(findMistakes({ changes, effects, orders }, 'at-least-once')).toContain(
      'P: a was run as older with nothing newer done',
    );
  });

  it.each([
    [
      'before it was done',
      effect('a', 0, 151),
      ['P: a was acknowledged 101 ms before it was done'],
    ],
    ['when it was done', effect('a', 0, 150), []],
  ])('looks whether a change was acknowledged %s', (_, only, mistakes) => {
    const orders = new Map([['P', 'a']]);
    const found = findMistakes(
      { changes: [change('a', 50)], effects: [only], orders },
      'exactly-once',
    );
    expect(found).toEqual(mistakes);
  });

  it.each([
    ['a work that overlaps another', 50, ['P: b was begun while a was being processed']],
    ['none in one that took so long that it may have lost its claim', 1_500, []],
    ['none in one that never ended', Number.POSITIVE_INFINITY, []],
  ])('finds %s', (_, doneAtMs, mistakes) => {
    const changes = [change('a'), change('b', 900)];
    const effects = [effect('a', 0, doneAtMs), effect('b', 20)];
    const orders = new Map([['P', 'b']]);
    expect(findMistakes({ changes, effects, orders }, 'at-least-once')).toEqual(mistakes);
  });

  it('finds an effect of a payment that there is not', () => {
    const { changes, effects, orders } = history('abc');
    const stranger = {
      changes,
      effects: [...effects, { ...effect('a', 0), reference: 'Q' }],
      orders,
    };
    expect(findMistakes(stranger, 'at-least-once')).toEqual(['Q: effect of no payment']);
  });
});

describe('countEffects', () => {
  it('tells repeated and older effects and changes without one', () => {
    expect(countEffects(history('ccA'))).toEqual({
      effects: 3,
      'effects repeated': 1,
      'changes without effect': 1,
      'effects run as older': 1,
      'effects not completed': 0,
    });
  });
});
