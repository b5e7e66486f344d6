import { getEventListeners } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { pause } from '../../src/store/waiting.js';

it('a wait leaves no listener on the caller’s signal, and twenty at a time bring no warning', async () => {
  const warnings: string[] = [];
  const warn = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 20 }, () => pause(1, signal)));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await new Promise(setImmediate);
  expect(warnings).not.toContain('MaxListenersExceededWarning');
});
