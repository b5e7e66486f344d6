import { expect, it } from 'vitest';
import { onAbort } from '../../src/protocol/waiting.js';

it('a signal of another library, which Node does not know, ends its calls', () => {
  const listeners = new Set<() => void>();
  const signal = {
    addEventListener: (_type: string, listener: () => void) => void listeners.add(listener),
    removeEventListener: (_type: string, listener: () => void) => void listeners.delete(listener),
  } as unknown as AbortSignal;
  const ended: string[] = [];
  const stop = onAbort(signal, () => void ended.push('first'));
  for (const listener of listeners) listener();
  expect(ended).toEqual(['first']);
  stop();
  expect(listeners.size).toBe(0);
});
