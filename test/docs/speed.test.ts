import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

interface Point {
  readonly store: string;
  readonly kind: string;
  readonly roundTripMs: number;
  readonly inFlight: number;
  readonly ratio: number;
}
const { drawBars, withTable } = (await import(path.resolve('bench/bars.mjs'))) as {
  drawBars: (results: unknown) => string;
  withTable: (page: string, results: unknown) => string;
};
const { drawCurves } = (await import(path.resolve('bench/curves.mjs'))) as {
  drawCurves: (results: { date: string; rows: number; points: readonly Point[] }) => string;
};

test('the page on speed shows the results of bench/; write it by: node bench/bars.mjs', () => {
  const results: unknown = JSON.parse(readFileSync('bench/results.json', 'utf8'));
  const page = readFileSync('docs/speed.md', 'utf8');
  expect(withTable(page, results)).toBe(page);
  expect(readFileSync('docs/images/speed.svg', 'utf8')).toBe(drawBars(results));
});

test('a bar is as long as its figure, beside the longest', () => {
  const rows = [
    { subject: 'floor', value: 1, figure: '1.00' },
    { subject: 'ours', value: 2, figure: '2.00', goal: 'at most 3.00' },
    { subject: 'a < b', value: 4, figure: '4.00' },
    { subject: 'skipped: no server', figure: '' },
  ];
  const svg = drawBars({ suites: [{ title: 'it: a call, ratio to the bare call', rows }] });
  expect(
    [...svg.matchAll(/<rect .*? width="([\d.]+)" height="14"(.*?)\/>/g)].map(([, ...all]) => all),
  ).toEqual([
    ['67.5', ''],
    ['135.0', ' class="ours"'],
    ['270.0', ''],
  ]);
  expect(svg).toContain('>a &lt; b<');
  expect(svg).not.toContain('skipped');
});

test('the curves have a panel for each store and kind, and a line for each round trip', () => {
  const points = ['callback', 'create'].flatMap((kind) =>
    [0, 1, 5].flatMap((roundTripMs) =>
      [64, 1, 16, 4].map((inFlight) => ({
        store: 'postgres',
        kind,
        roundTripMs,
        inFlight,
        ratio: roundTripMs === 5 ? 1 : 1.5,
      })),
    ),
  );
  const svg = drawCurves({ date: '2026-11-22', rows: 1_000_000, points });
  expect([...svg.matchAll(/class="title".*?>(.*?)</g)].map(([, title]) => title)).toEqual([
    'Postgres callback: ratio, by calls in flight',
    'Postgres create: ratio, by calls in flight',
  ]);
  // 1.5 is the top of the axis, at 34; 1 is a third below. From 1 in flight on the left to 64 on the right.
  const lines = [...svg.matchAll(/class="trip(\d)" d="(M[^h]*?)"/g)].map(([, trip, d]) => [
    trip,
    d,
  ]);
  const [top, third] = [34, 85].map((y) => `M40 ${y}L136 ${y}L232 ${y}L328 ${y}`);
  expect(lines).toEqual([
    ['0', top],
    ['1', top],
    ['2', third],
    ['0', top],
    ['1', top],
    ['2', third],
  ]);
});

test('there are no curves of nothing', () => {
  expect(() => drawCurves({ date: '2026-11-22', rows: 1, points: [] })).toThrow('no point');
});
