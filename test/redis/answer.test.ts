import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answerWithin, retryUntil } from '../../src/redis/client.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an answer leaves no timer behind, nor does a failure', async () => {
  expect(await answerWithin(1_000, Promise.resolve('1'))).toBe('1');
  await expect(answerWithin(1_000, Promise.reject(new Error('m')))).rejects.toThrow('m');
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  [0, 1],
  [100, 1],
  [150, 2],
  [250, 3],
])(
  'what fails is tried again every 100 ms while there are %i ms, %i times in all',
  async (leftMs, times) => {
    const attempt = vi.fn(() => Promise.reject(new Error('m')));
    const failed = expect(retryUntil(performance.now() + leftMs, attempt)).rejects.toThrow('m');
    await vi.runAllTimersAsync();
    await failed;
    expect(attempt).toHaveBeenCalledTimes(times);
  },
);
