import { describe, expect, it } from 'vitest';
import { oddAnswers, verdictOn } from './odd-answers.js';

describe('one verdict on each odd answer', () => {
  it.each(oddAnswers)('$what', async (answer) => {
    expect(await verdictOn(answer, {})).toEqual(answer.verdict);
  });
});
