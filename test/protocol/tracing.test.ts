import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  hasSubscribers,
  openChannel,
  type Runner,
  runTraced,
  runWithin,
} from '../../src/protocol/tracing.js';

const events = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

describe('a tracing channel', () => {
  it.each(events)('has subscribers while a listener is subscribed to %s', (event) => {
    const channel = tracingChannel<unknown, object>(`test:${event}`);
    expect(hasSubscribers(channel)).toBe(false);
    const listener = () => undefined;
    channel[event].subscribe(listener);
    onTestFinished(() => void channel[event].unsubscribe(listener));
    expect(hasSubscribers(channel)).toBe(true);
  });

  it('is not asked for on load, and is missing in a runtime that throws then, as that of Next.js', () => {
    const getBuiltinModule = vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
      throw new Error('A Node.js API is used which is not supported in the Edge Runtime');
    });
    const getChannel = openChannel('test:edge');
    expect(getBuiltinModule).not.toHaveBeenCalled();
    expect(getChannel()).toBeUndefined();
  });

  it('may have subscribers where it does not say, as on Bun, and has none where it is missing', () => {
    expect(hasSubscribers({ hasSubscribers: undefined })).toBe(true);
    expect(hasSubscribers(undefined)).toBe(false);
  });
});

describe('work of which a trace tells', () => {
  const run = (runner?: Runner) => {
    const trace = {};
    if (runner !== undefined) runWithin(trace, runner);
    let count = 0;
    return runTraced(trace, async () => {
      count += 1;
      return count;
    });
  };

  it('is run by the runner of a subscriber, whose context it is in', async () => {
    const storage = new AsyncLocalStorage<string>();
    const trace = {};
    runWithin(trace, (work) => storage.run('of the subscriber', work));
    expect(await runTraced(trace, async () => storage.getStore())).toBe('of the subscriber');
    expect(Object.keys(trace)).toEqual([]);
  });

  it.each<[string, Runner]>([
    ['does nothing', () => {}],
    ['runs it twice', (work) => [work(), work()]],
    [
      'throws after it has run it',
      (work) => {
        work();
        throw new Error('no context');
      },
    ],
  ])('is run once by a runner that %s', async (_what, runner) => {
    expect(await run(runner)).toBe(1);
  });

  it('is not run again by a runner that comes late', async () => {
    const trace = {};
    let late = () => {};
    runWithin(trace, (work) => {
      late = work;
    });
    let count = 0;
    await runTraced(trace, async () => {
      count += 1;
    });
    late();
    expect(count).toBe(1);
  });
});
