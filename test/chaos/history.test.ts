import { describe, expect, it } from 'vitest';
import { countEffects, findMistakes, type History } from './history.js';

const change = (status: string, acknowledgedAtMs = Number.POSITIVE_INFINITY) => ({
  key: `key-${status}`,
  reference: 'P',
  status,
  acknowledgedAtMs,
});
const effect = (status: string, beganAtMs: number, doneAtMs = beganAtMs + 10) => ({
  key: `key-${status}`,
  reference: 'P',
  status,
  beganAtMs,
  doneAtMs,
});

/** What is left of a payment that became a, b and c, with a acknowledged after the first effect. */
function history(statuses: string, order = statuses.at(-1)): History {
  return {
    changes: [change('a', 15), change('b', 900), change('c', 900)],
    effects: [...statuses].map((status, index) => effect(status, index * 100)),
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
        'P: b is lost',
        'P: c is lost',
        'P: the last effect is not that of c',
        'P: the order is undefined, not c',
      ],
    ],
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

  it.each([
    ['before a newer one was done', 9, ['P: a is lost']],
    ['a little early by another clock', 10, []],
  ])('looks whether a change without effect was acknowledged %s', (_, ackMs, mistakes) => {
    const changes = [change('a', ackMs), change('b', 900)];
    const effects = [effect('b', 100)];
    const orders = new Map([['P', 'b']]);
    expect(findMistakes({ changes, effects, orders }, 'at-least-once')).toEqual(mistakes);
  });

  it.each([
    [
      'before it was done',
      effect('a', 0, 151),
      ['P: a was acknowledged 101 ms before it or a newer one was done'],
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
  it('tells repeated effects and stale changes', () => {
    expect(countEffects(history('aac'))).toEqual({
      effects: 3,
      'effects repeated': 1,
      'changes without effect (stale)': 1,
      'effects not completed': 0,
    });
  });
});
