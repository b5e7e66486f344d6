import { expect, test } from 'vitest';
import { nearest } from '../../src/protocol/options.js';

const names = ['mock', 'check', 'payments create', 'payments list'];

test.each([
  ['moc', 'mock'],
  ['mokc', 'mock'],
  ['chek', 'check'],
  ['payment list', 'payments list'],
  ['payments cretae', 'payments create'],
])('%j was meant to be %j', (word, meant) => {
  expect(nearest(word, names)).toBe(meant);
});

test.each(['', 'x', 'mo', 'help', 'refunds list', 'payments'])('%j is close to nothing', (word) => {
  expect(nearest(word, names)).toBeUndefined();
});

test('the closest wins, and of two the first', () => {
  expect(nearest('lists', ['listen', 'list'])).toBe('list');
  expect(nearest('lint', ['list', 'lind'])).toBe('list');
});
