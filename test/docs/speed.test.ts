import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const { drawBars, withTable } = (await import(path.resolve('bench/bars.mjs'))) as {
  drawBars: (results: unknown) => string;
  withTable: (page: string, results: unknown) => string;
};

test('the page on speed shows the results of bench/; write it by: node bench/bars.mjs', () => {
  const results: unknown = JSON.parse(readFileSync('bench/results.json', 'utf8'));
  const page = readFileSync('docs/speed.md', 'utf8');
  expect(withTable(page, results)).toBe(page);
  expect(readFileSync('docs/images/speed.svg', 'utf8')).toBe(drawBars(results));
});
