import { expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.js';
import { parseInstant } from '../../src/cli/option-values.js';

test.each([
  ['1769860800', 1_769_860_800_000],
  ['1769860800.5', 1_769_860_800_500],
  ['2026-01-31T12:00:00Z', 1_769_860_800_000],
  ['2026-01-31T13:00+01:00', 1_769_860_800_000],
])('%s is an instant', (text, expected) => {
  expect(parseInstant('--at', text)).toBe(expected);
});

test.each([
  ['1769860800000', /looks like milliseconds/],
  ['2026-01-31T12:00:00', /with an offset/],
  ['2026-13-31T12:00:00Z', /with an offset/],
  ['yesterday', /--at must be Unix seconds/],
])('refuses %j', (text, message) => {
  expect(() => parseInstant('--at', text)).toThrow(message);
  expect(() => parseInstant('--at', text)).toThrow(UsageError);
});
