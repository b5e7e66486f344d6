import { getEventListeners, once } from 'node:events';
import { expect, test } from 'vitest';
import { JoinedSignal } from '../../src/protocol/joined-signal.js';

test('is aborted with any of its sources, also with one that was before', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const joined = new JoinedSignal([first.signal, second.signal]);
  expect(joined.signal.aborted).toBe(false);
  second.abort();
  expect(joined).toMatchObject({ isOver: false, signal: { aborted: true } });
  expect(new JoinedSignal([second.signal]).signal.aborted).toBe(true);
});

test('is aborted when the time is over', async () => {
  using joined = new JoinedSignal([new AbortController().signal], 1);
  await once(joined.signal, 'abort');
  expect(joined.isOver).toBe(true);
});

test('leaves no listener and no timer behind', () => {
  const { signal } = new AbortController();
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const before = timers();
  {
    using _joined = new JoinedSignal([signal], 60_000);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(timers()).toBe(before + 1);
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(timers()).toBe(before);
});
