import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const { drawBars, withTable } = await import(path.resolve('bench/bars.mjs'));
const { withTables } = await import(path.resolve('bench/field/page.mjs'));

const readJson = (file: string): object => JSON.parse(readFileSync(file, 'utf8'));

test('the page on speed shows the results of bench/; write it by: node bench/bars.mjs', () => {
  const results = readJson('bench/results.json');
  const page = readFileSync('docs/speed.md', 'utf8');
  expect(withTable(page, results)).toBe(page);
  expect(readFileSync('docs/images/speed.svg', 'utf8')).toBe(drawBars(results));
});

test('the page on the field shows the results of bench/field; write it by: node bench/field/page.mjs', () => {
  const results = readJson('bench/field/results.json');
  const page = readFileSync('docs/the-field.md', 'utf8');
  expect(withTables(page, results)).toBe(page);
  expect(withTables(page, { ...results, date: '1970-01-01' })).toContain('1970-01-01');
});
