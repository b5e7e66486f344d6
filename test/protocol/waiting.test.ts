import { expect, it, vi } from 'vitest';
import { onAbort } from '../../src/protocol/waiting.js';

it('what one call throws keeps the abort from no other, and is not swallowed', () => {
  const later: (() => void)[] = [];
  vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((run) => void later.push(run));
  const controller = new AbortController();
  const ended: string[] = [];
  onAbort(controller.signal, () => {
    throw new Error('from a dispatcher');
  });
  onAbort(controller.signal, () => void ended.push('second'));
  controller.abort();
  expect(ended).toEqual(['second']);
  expect(later).toHaveLength(1);
  expect(later[0]).toThrow('from a dispatcher');
});

it('a call that took itself back is not run, and may do so again', () => {
  const controller = new AbortController();
  const ended: string[] = [];
  const stop = onAbort(controller.signal, () => void ended.push('first'));
  onAbort(controller.signal, () => void ended.push('second'));
  stop();
  stop();
  controller.abort();
  expect(ended).toEqual(['second']);
});
