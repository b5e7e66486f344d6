import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { interruptible, untilStopped } from '../../src/cli/process-signals.js';

class TestProcess extends EventEmitter {
  readonly stdout = new EventEmitter();
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

describe.each(['SIGINT', 'SIGTERM'])('after %s', (signal) => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('%s ends the process at once with %i', async (second, code) => {
    const running = new TestProcess();
    const { stopped } = untilStopped(running, running.stdout);
    running.emit(signal);
    await stopped;
    expect(running.exits).toEqual([]);
    running.emit(second);
    expect(running.exits).toEqual([code]);
  });
});

test('SIGHUP stops the first process of a container, which the system would not end', async () => {
  const first = Object.assign(new TestProcess(), { pid: 1 });
  const { stopped, release } = untilStopped(first, first.stdout);
  first.emit('SIGHUP');
  await stopped;
  first.emit('SIGHUP');
  expect(first.exits).toEqual([129]);
  release();
  expect(first.listenerCount('SIGHUP')).toBe(0);
  await interruptible(first, async (signal) => {
    first.emit('SIGHUP');
    expect(signal.aborted).toBe(true);
  });
  expect(first.eventNames()).toEqual([]);
});

test('SIGHUP is left to the system elsewhere, so that nohup keeps its effect', () => {
  const other = Object.assign(new TestProcess(), { pid: 2 });
  const { release } = untilStopped(other, other.stdout);
  expect(other.listenerCount('SIGHUP')).toBe(0);
  release();
});

test('an output that is no longer read stops it too, and a signal then ends it at once', async () => {
  const running = new TestProcess();
  const { stopped } = untilStopped(running, running.stdout);
  running.stdout.emit('error', new Error('EPIPE'));
  await stopped;
  running.emit('SIGINT');
  expect(running.exits).toEqual([130]);
});

test('nothing listens once it is released', async () => {
  const running = new TestProcess();
  const { stopped, release } = untilStopped(running, running.stdout);
  running.emit('SIGTERM');
  await stopped;
  release();
  running.emit('SIGTERM');
  expect(running.exits).toEqual([]);
});
