import { describe, expect, it } from 'vitest';
import { Turns } from '../../../src/store/sql/turns.js';
import { deferred } from '../../postgres/change.js';

const LONG_MS = 60_000;
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('turns', () => {
  it('admit callers of one name one at a time, in order of arrival', async () => {
    const turns = new Turns();
    const first = deferred<void>();
    const order: string[] = [];
    const note = (name: string) => async () => void order.push(name);
    const all = [
      turns.take('a', LONG_MS, () => first.promise.then(note('first'))),
      turns.take('a', LONG_MS, note('second')),
      turns.take('a', LONG_MS, note('third')),
    ];
    await turns.take('b', LONG_MS, note('other'));
    expect(order).toEqual(['other']);
    first.resolve();
    await Promise.all(all);
    expect(order).toEqual(['other', 'first', 'second', 'third']);
  });

  it('continue after an action that fails', async () => {
    const turns = new Turns();
    const failure = new Error('it failed');
    const failing = turns.take('a', LONG_MS, () => Promise.reject(failure));
    const next = turns.take('a', LONG_MS, async () => 'next');
    await expect(failing).rejects.toBe(failure);
    expect(await next).toBe('next');
  });

  it('resolve with undefined after the timeout, and skip that action', async () => {
    const turns = new Turns();
    const first = deferred<void>();
    const ran: string[] = [];
    const held = turns.take('a', LONG_MS, () => first.promise);
    const impatient = turns.take('a', 5, async () => void ran.push('impatient'));
    const patient = turns.take('a', LONG_MS, async () => ran.push('patient'));
    expect(await impatient).toBeUndefined();
    first.resolve();
    await Promise.all([held, patient]);
    expect(ran).toEqual(['patient']);
  });

  it('pass the remaining time, at least 1 ms', async () => {
    const turns = new Turns();
    const pass = async (leftMs: number) => leftMs;
    const first = deferred<void>();
    const held = turns.take('a', LONG_MS, () => first.promise);
    const cameAtMs = performance.now();
    const waiting = turns.take('a', LONG_MS, pass);
    // By the time this one times out, the one before it has waited too.
    await turns.take('a', 5, pass);
    first.resolve();
    await held;
    const leftMs = await waiting;
    expect(leftMs).toBeLessThan(LONG_MS);
    expect(leftMs).toBeGreaterThanOrEqual(LONG_MS - Math.ceil(performance.now() - cameAtMs));
    expect(await turns.take('a', 1, pass)).toBe(1);
  });

  it('leave no timer behind', async () => {
    const before = timers();
    const turns = new Turns();
    const first = deferred<void>();
    const held = turns.take('a', LONG_MS, () => first.promise);
    const waiting = turns.take('a', LONG_MS, async () => undefined);
    expect(timers()).toBe(before + 1);
    first.resolve();
    await Promise.all([held, waiting]);
    expect(timers()).toBe(before);
  });
});
