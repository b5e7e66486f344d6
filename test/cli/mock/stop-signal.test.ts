import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { untilStopped } from '../../../src/cli/mock/stop-signal.js';

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
    const stopped = untilStopped(running);
    running.emit(signal);
    await stopped;
    expect(running.exits).toEqual([]);
    running.emit(second);
    expect(running.exits).toEqual([code]);
  });
});

test('an output that nobody reads stops it too, and a signal then ends it at once', async () => {
  const running = new TestProcess();
  const stopped = untilStopped(running);
  running.stdout.emit('error', new Error('EPIPE'));
  await stopped;
  running.emit('SIGINT');
  expect(running.exits).toEqual([130]);
});
