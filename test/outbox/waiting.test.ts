import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { pause } from '../../src/outbox/waiting.js';

it('a wait leaves no listener on the caller’s signal', async () => {
  const { signal } = new AbortController();
  const waiting = pause(1, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await waiting;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
