import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { interruptible } from '../../src/cli/process-signals.js';

const signals = new EventEmitter() as unknown as NodeJS.Process;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const listeners = () => SIGNALS.map((name) => signals.listenerCount(name));

test.each(SIGNALS)('%s aborts the work, and the next signal ends the process', async (name) => {
  const before = listeners();
  const result = await interruptible(signals, async (signal) => {
    expect(listeners()).toEqual(before.map((count) => count + 1));
    expect(signal.aborted).toBe(false);
    signals.emit(name);
    // Without a listener the system's own way with a signal is left.
    expect(listeners()).toEqual(before);
    return signal.aborted;
  });
  expect(result).toBe(true);
  expect(listeners()).toEqual(before);
});

test('listens no longer when the work has ended or failed', async () => {
  const before = listeners();
  expect(await interruptible(signals, async () => 7)).toBe(7);
  await expect(interruptible(signals, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(listeners()).toEqual(before);
});
