import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { interruptible } from '../../src/cli/terminal.js';

function createTerminal(pid: number) {
  const signals = Object.assign(new EventEmitter(), { pid });
  const stdout = new EventEmitter();
  const terminal = { signals, stdout } as unknown as Parameters<typeof interruptible>[0];
  const listeners = () => [...signals.eventNames(), ...stdout.eventNames()];
  return { signals, stdout, terminal, listeners };
}

test.each([
  ['SIGINT', 7],
  ['SIGTERM', 7],
  // The first process of a container, which the system would not end.
  ['SIGHUP', 1],
])('%s aborts the work, and the next signal ends the process', async (name, pid) => {
  const { signals, terminal, listeners } = createTerminal(pid);
  const result = await interruptible(terminal, async (signal) => {
    expect(listeners()).toContain(name);
    expect(signal.aborted).toBe(false);
    signals.emit(name);
    // Without a listener the system's own way with a signal is left.
    expect(signals.eventNames()).toEqual([]);
    return signal.aborted;
  });
  expect(result).toBe(true);
  expect(listeners()).toEqual([]);
});

test('SIGHUP is left to the system elsewhere, so that nohup keeps its effect', async () => {
  const { terminal, listeners } = createTerminal(2);
  await interruptible(terminal, async () => expect(listeners()).not.toContain('SIGHUP'));
});

test('an output that is no longer read, and the work itself, can stop it too', async () => {
  const { stdout, terminal, listeners } = createTerminal(7);
  const isAborted = (end: (stop: () => void) => unknown) =>
    interruptible(terminal, async (signal, stop) => {
      end(stop);
      return signal.aborted;
    });
  expect(await isAborted(() => stdout.emit('error', new Error('EPIPE')))).toBe(true);
  expect(await isAborted((stop) => stop())).toBe(true);
  expect(await isAborted(() => undefined)).toBe(false);
  expect(listeners()).toEqual([]);
});
