import { getEventListeners, once } from 'node:events';
import { expect, test } from 'vitest';
import { DeadlineSignal } from '../../../src/cli/discovery/deadline-signal.js';

test('is aborted with its source, also with one that was before', () => {
  const source = new AbortController();
  using joined = new DeadlineSignal(source.signal, 60_000);
  expect(joined.signal.aborted).toBe(false);
  source.abort();
  expect(joined).toMatchObject({ isOver: false, signal: { aborted: true } });
  using late = new DeadlineSignal(source.signal, 60_000);
  expect(late.signal.aborted).toBe(true);
});

test('is aborted when the time is over', async () => {
  using joined = new DeadlineSignal(new AbortController().signal, 1);
  await once(joined.signal, 'abort');
  expect(joined.isOver).toBe(true);
});

test('leaves no listener and no timer behind', () => {
  const { signal } = new AbortController();
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const before = timers();
  {
    using _joined = new DeadlineSignal(signal, 60_000);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(timers()).toBe(before + 1);
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(timers()).toBe(before);
});
