import { expect, test } from 'vitest';
import { createPaint } from '../../src/cli/output.js';

const streamOf = (properties: object) => properties as unknown as NodeJS.WriteStream;

test('a terminal with colours gets them', () => {
  const paint = createPaint(streamOf({ isTTY: true, hasColors: () => true }));
  expect(paint('red', 'a')).toBe('\u001b[31ma\u001b[39m');
});

test.each([
  ['a terminal without', { isTTY: true, hasColors: () => false }],
  ['a pipe', {}],
  ['a file', { isTTY: false }],
])('%s colours gets the text as it is', (_what, properties) => {
  expect(createPaint(streamOf(properties))('red', 'a')).toBe('a');
});
