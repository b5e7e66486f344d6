import { describe, expect, it } from 'vitest';
import { oddAnswers, verdictOn } from './odd-answers.js';

describe('one verdict on each odd answer', () => {
  it.each(oddAnswers)('$what', async (answer) => {
    expect(await verdictOn(answer, {})).toEqual(answer.verdict);
  });
});

it('there are odd answers in plenty, and each is told from the others', () => {
  expect(new Set(oddAnswers.map(({ what }) => what)).size).toBe(oddAnswers.length);
  expect(oddAnswers.length).toBeGreaterThan(100);
});
