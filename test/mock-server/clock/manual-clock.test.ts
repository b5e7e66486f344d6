import { describe, expect, test, vi } from 'vitest';
import { createManualClock, createMockService } from '../../../src/mock-server/index.js';
import { manualClock } from '../../../src/mock-server/state/clock.js';
import { creation } from '../merchant-client.js';

describe('a manual clock', () => {
  test('stands still until it is advanced', async () => {
    const clock = createManualClock({ now: 1_000 });
    expect(clock.now()).toBe(1_000);
    await clock.advance(250);
    expect(clock.now()).toBe(1_250);
  });

  test('is the clock of a service of another copy of the package', async () => {
    vi.resetModules();
    const another = await import('../../../src/mock-server/index.js');
    expect(another.createMockService).not.toBe(createMockService);
    const clock = createManualClock({ now: 0 });
    const service = another.createMockService({ clock, autoStatus: 'paid', autoStatusAfterMs: 5 });
    await service.fetch(creation());
    await clock.advance(4);
    expect(service.payments.list()).toMatchObject([{ status: 'pending' }]);
    await clock.advance(1);
    expect(service.payments.list()).toMatchObject([{ status: 'paid' }]);
  });

  test('runs due timers in the order of their times, each at its own time', async () => {
    const clock = createManualClock({ now: 0 });
    const timers = manualClock(clock, 'clock');
    const runs: [string, number][] = [];
    timers.setTimeout(() => runs.push(['late', clock.now()]), 300);
    timers.setTimeout(() => runs.push(['early', clock.now()]), 100);
    timers.setTimeout(() => runs.push(['same time, set later', clock.now()]), 100);
    timers.setTimeout(() => runs.push(['not due', clock.now()]), 301);
    await clock.advance(300);
    expect(runs).toEqual([
      ['early', 100],
      ['same time, set later', 100],
      ['late', 300],
    ]);
    expect(clock.now()).toBe(300);
  });

  test('waits for the promise of a timer before the time goes on', async () => {
    const clock = createManualClock({ now: 0 });
    const timers = manualClock(clock, 'clock');
    const seen: string[] = [];
    timers.setTimeout(async () => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      seen.push(`first ends at ${clock.now()}`);
    }, 10);
    timers.setTimeout(() => seen.push(`second runs at ${clock.now()}`), 20);
    await clock.advance(100);
    expect(seen).toEqual(['first ends at 10', 'second runs at 20']);
  });

  test('does not run a timer that another one, due at the same time, has cancelled', async () => {
    const clock = createManualClock();
    const timers = manualClock(clock, 'clock');
    const runs: string[] = [];
    timers.setTimeout(() => {
      runs.push('first');
      second();
    }, 5);
    const second = timers.setTimeout(() => runs.push('second'), 5);
    timers.setTimeout(() => runs.push('third'), 5);
    await clock.advance(5);
    expect(runs).toEqual(['first', 'third']);
  });

  test('refuses to be advanced from within an advance instead of waiting for itself', async () => {
    const clock = createManualClock();
    const timers = manualClock(clock, 'clock');
    let nested: unknown;
    timers.setTimeout(async () => {
      nested = await clock.advance(1).catch((error: unknown) => error);
    }, 1);
    await clock.advance(5);
    expect(nested).toMatchObject({ code: 'INVALID_OPTION', option: 'clock' });
    await clock.advance(5);
  });

  test('can be advanced again after a timer has thrown', async () => {
    const clock = createManualClock({ now: 0 });
    const timers = manualClock(clock, 'clock');
    timers.setTimeout(() => {
      throw new Error('in a timer');
    }, 1);
    await expect(clock.advance(5)).rejects.toThrow('in a timer');
    await clock.advance(4);
    expect(clock.now()).toBe(5);
  });

  test.each([-1, 0.5])('refuses to advance by %s', async (ms) => {
    const clock = createManualClock();
    await expect(clock.advance(ms as number)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'ms',
    });
  });

  test('refuses to be advanced beyond the year 9000', async () => {
    const clock = createManualClock({ now: Date.UTC(9000, 0, 1) });
    await clock.advance(0);
    await expect(clock.advance(1)).rejects.toMatchObject({ option: 'ms' });
  });

  test.each([-1, 1.5, Number.NaN, Date.UTC(9000, 0, 1) + 1])('refuses to start at %s', (now) => {
    expect(() => createManualClock({ now })).toThrowError(
      expect.objectContaining({ code: 'INVALID_OPTION', option: 'now' }),
    );
  });
});
