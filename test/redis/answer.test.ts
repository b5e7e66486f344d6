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
  [undefined, 'Error: no message', undefined],
  [null, 'Error: no message', undefined],
  [{ name: 7, message: 'm', code: 7 }, 'Error: m', undefined],
  [{ name: 'ReplyError', message: 'm', code: 'ECONNRESET' }, 'ReplyError: m', 'ECONNRESET'],
  [
    new Error("ERR unknown command 'HELLO'  with args beginning with: '3' 'AUTH' 'p'"),
    "Error: ERR unknown command 'HELLO'",
    undefined,
  ],
  [
    new Error("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'p'"),
    "Error: ERR unknown command 'HELLO'",
    undefined,
  ],
  [
    new Error('WRONGTYPE Operation, command was: ["eval","return 1","1","payment-1"]'),
    'Error: WRONGTYPE Operation',
    undefined,
  ],
])(
  'a rejection by the client is reported with name, message and code: %#',
  async (reason, said, code) => {
    const error = await answerWithin(1_000, Promise.reject(reason)).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'STORE_FAILED',
      message: `The request to Redis failed: ${said}`,
      cause: expect.any(Error),
    });
    expect(error.cause.code).toBe(code);
    expect(Object.keys(error.cause)).not.toContain('args');
  },
);

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
