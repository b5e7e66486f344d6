import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const { withTables } = (await import(path.resolve('bench/field/page.mjs'))) as {
  withTables: (page: string, results: unknown) => string;
};

test('the page on the field shows the results of bench/field; write it by: node bench/field/page.mjs', () => {
  const page = readFileSync('docs/the-field.md', 'utf8');
  const results = JSON.parse(readFileSync('bench/field/results.json', 'utf8'));
  expect(withTables(page, results)).toBe(page);
  expect(withTables(page, { ...results, date: '1970-01-01' })).toContain('1970-01-01');
});
