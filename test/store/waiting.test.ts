import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { pause } from '../../src/store/waiting.js';

it('a wait leaves no listener on the caller’s signal', async () => {
  const { signal } = new AbortController();
  // One for all: from the eleventh on Node warns of a leak.
  const waiting = Promise.all(Array.from({ length: 20 }, () => pause(1, signal)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await waiting;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
