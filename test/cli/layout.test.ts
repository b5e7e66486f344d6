import { expect, test } from 'vitest';
import { formatTime, labelledLines, textWidth, wrapText } from '../../src/cli/layout.js';

test.each([
  [undefined, 80],
  [200, 120],
  [97, 97],
  [12, 40],
])('on a stream of %s columns lines of text are %i wide', (columns, expected) => {
  expect(textWidth({ columns: columns as number })).toBe(expected);
});

test.each([
  ['', ['']],
  ['one two', ['one two']],
  ['one two three', ['one two', 'three']],
  ['12345678 9', ['12345678', '9']],
  ['123456789abc d', ['123456789abc', 'd']],
  ['😀😀😀😀 😀😀😀', ['😀😀😀😀 😀😀😀']],
])('wraps %j at 8 characters', (text, expected) => {
  expect(wrapText(text, 8)).toEqual(expected);
});

test('the further lines of a labelled text are aligned with its first', () => {
  expect(labelledLines('x: ', 'one two three', 10)).toEqual(['x: one two', '   three']);
});

test('a time is local, with its date on another day', () => {
  const now = new Date(2026, 0, 31, 7, 8, 9);
  expect(formatTime(now, now)).toBe('07:08:09');
  expect(formatTime(now.toISOString(), now)).toBe('07:08:09');
  expect(formatTime(new Date(2026, 1, 1, 0, 0, 5), now)).toBe('2026-02-01 00:00:05');
});
