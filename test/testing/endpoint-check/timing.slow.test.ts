import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { changed, check, clock, listen, nowSeconds, SECRET, useManualClock } from './shop.js';

useManualClock();

async function checkTimestamps(listener: RequestListener) {
  const { checks } = await check(await listen(listener), {
    signingSecret: SECRET,
  });
  const find = (wanted: string) => checks.find(({ id }) => id === wanted);
  return {
    stale: find('stale-timestamp'),
    future: find('future-timestamp'),
    delayed: find('delayed-callback'),
  };
}

interface Times {
  /** The endpoint's clock, in seconds; may be a fraction. */
  readonly now?: () => number;
  readonly isFresh?: (ageSeconds: number) => boolean;
  /** Before it looks at the timestamp, for those of the future. */
  readonly holdSeconds?: number;
}

function createShop({
  now = nowSeconds,
  isFresh = (age) => Math.abs(age) <= 300,
  holdSeconds = 0,
}: Times) {
  return changed((shop) => ({
    async read(request) {
      const aheadSeconds = Number(request.headers['x-timestamp']) - nowSeconds();
      if (aheadSeconds > 200 && aheadSeconds < 400) await clock.pause(holdSeconds * 1000);
      return shop.read(request);
    },
    isFresh: (timestamp) => isFresh(now() - timestamp),
  })).listener;
}

it.each([
  ['10 ms behind', () => clock.now() / 1000 - 0.01],
  ['10 ms ahead', () => clock.now() / 1000 + 0.01],
  ['1.5 s behind', () => clock.now() / 1000 - 1.5],
  ['1.5 s ahead', () => clock.now() / 1000 + 1.5],
  ['4 s behind', () => nowSeconds() - 4],
])('passes an endpoint whose clock is %s', async (_, now) => {
  const { stale, future, delayed } = await checkTimestamps(createShop({ now }));
  for (const check of [stale, future, delayed]) expect(check?.outcome).toBe('passed');
});

it.each([
  [294, ['passed', 'passed', 'failed']],
  [295, ['passed', 'passed', 'passed']],
  [304, ['passed', 'passed', 'passed']],
  [306, ['failed', 'failed', 'passed']],
])('judges a window of %i s, of 300: %j', async (windowSeconds, outcomes) => {
  const isFresh = (age: number) => Math.abs(age) <= windowSeconds;
  const { stale, future, delayed } = await checkTimestamps(createShop({ isFresh }));
  expect([stale, future, delayed].map((check) => check?.outcome)).toEqual(outcomes);
});

it.each([2, 8])('asks no more of an endpoint than a tolerance of %i s', async (seconds) => {
  const isFresh = (age: number) => Math.abs(age) <= seconds;
  const { checks } = await check(await listen(createShop({ isFresh })), {
    signingSecret: SECRET,
    toleranceSeconds: seconds,
  });
  expect(checks.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
});

it.each([1.2, 3.9])('passes an endpoint that checks after %f s', async (seconds) => {
  const { future } = await checkTimestamps(createShop({ holdSeconds: seconds }));
  expect(future).toMatchObject({ outcome: 'passed', status: 401 });
});

it('fails a slow endpoint that checks nothing', async () => {
  const { future } = await checkTimestamps(
    createShop({ holdSeconds: 1.2, isFresh: (age) => age <= 300 }),
  );
  expect(future).toMatchObject({ outcome: 'failed', status: 200 });
});
