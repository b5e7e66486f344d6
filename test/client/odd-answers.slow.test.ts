import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { oddAnswers, verdictOn } from './odd-answers.js';

describe('one verdict on each odd answer', () => {
  it.each(oddAnswers)('$what, with a fetch', async (answer) => {
    const { verdict, byFetch = verdict } = answer;
    expect(await verdictOn(answer, { fetch: globalThis.fetch })).toEqual(byFetch);
  });

  it.each(oddAnswers)('$what, with a dispatcher', async (answer) => {
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.destroy());
    expect(await verdictOn(answer, { dispatcher })).toEqual(answer.verdict);
  });
});
