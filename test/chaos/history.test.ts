import { describe, expect, it } from 'vitest';
import { countEffects, findMistakes, type History } from './history.js';

const change = (status: string, mustHaveEffect = false) => ({
  key: `key-${status}`,
  reference: 'P',
  status,
  mustHaveEffect,
});
const effect = (status: string, reference = 'P') => ({ key: `key-${status}`, reference, status });

/** What is left of a payment that became a, b and c, with a acknowledged before b was made. */
function history(statuses: string, order = statuses.at(-1)): History {
  return {
    changes: [change('a', true), change('b'), change('c', true)],
    effects: [...statuses].map((status) => effect(status)),
    orders: new Map(order === undefined ? [] : [['P', order]]),
  };
}

describe('findMistakes', () => {
  it.each([['abc'], ['ac']])('finds none in the effects %s', (statuses) => {
    expect(findMistakes(history(statuses), 'exactly-once')).toEqual([]);
    expect(findMistakes(history(statuses), 'at-least-once')).toEqual([]);
  });

  it.each([
    [
      '',
      [
        'P: a is lost',
        'P: c is lost',
        'P: the last effect is not that of c',
        'P: the order is undefined, not c',
      ],
    ],
    ['bc', ['P: a is lost']],
    ['ab', ['P: c is lost', 'P: the last effect is not that of c', 'P: the order is b, not c']],
    ['acb', ['P: the last effect is not that of c', 'P: the order is b, not c']],
    ['axc', ['P: effect of no change']],
  ])('finds what neither guarantee allows in the effects "%s"', (statuses, mistakes) => {
    expect(findMistakes(history(statuses), 'at-least-once')).toEqual(mistakes);
    expect(findMistakes(history(statuses), 'exactly-once')).toEqual(
      expect.arrayContaining(mistakes),
    );
  });

  it.each([
    ['aabc', ['P: 2 effects of a']],
    ['bac', ['P: effects out of order: changes 1, 0, 2']],
  ])('finds what is not exactly once in the effects "%s"', (statuses, mistakes) => {
    expect(findMistakes(history(statuses), 'at-least-once')).toEqual([]);
    expect(findMistakes(history(statuses), 'exactly-once')).toEqual(mistakes);
  });

  it('finds a wrong order though its effects are right', () => {
    expect(findMistakes(history('abc', 'a'), 'at-least-once')).toEqual([
      'P: the order is a, not c',
    ]);
  });

  it('finds an effect of a payment that there is not', () => {
    const { changes, effects, orders } = history('abc');
    const stranger = { changes, effects: [...effects, effect('a', 'Q')], orders };
    expect(findMistakes(stranger, 'at-least-once')).toEqual(['Q: effect of no payment']);
  });
});

describe('countEffects', () => {
  it('tells repeated effects and stale changes', () => {
    expect(countEffects(history('aac'))).toEqual({
      effects: 3,
      'effects repeated': 1,
      'changes without effect (stale)': 1,
      'changes that could not be stale': 2,
    });
  });
});
