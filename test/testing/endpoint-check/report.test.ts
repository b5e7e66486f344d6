import { expect, it } from 'vitest';
import { summarize } from '../../../src/testing/endpoint-check/report.js';

it.each([
  [[7], { median: 7, max: 7 }],
  [[10.04, 1, 4], { median: 4, max: 10 }],
  [[10, 1, 4, 2], { median: 3, max: 10 }],
  [[], undefined],
])('reports the median and the longest of %o ms', (latenciesMs, acknowledgeMs) => {
  expect(summarize(latenciesMs)).toEqual(acknowledgeMs);
});
