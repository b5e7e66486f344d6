import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkFault } from '../../src/mock-server/faults/fault-list.js';
import { findCreatePaymentIssues } from '../../src/protocol/creation.js';
import { findStatusRecordIssues } from '../../src/protocol/payment.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { PLANTED, polluted } from './pollution.js';

/** Every name that zod's code reads of some object. */
const names = [
  ...new Set(
    ['schemas', 'checks', 'util', 'core', 'parse', 'errors', 'api'].flatMap((part) => {
      const code = readFileSync(`node_modules/zod/v4/core/${part}.js`, 'utf8');
      const found = [...code.matchAll(/\.([A-Za-z_$][\w$]*)/g)];
      const destructured = [...code.matchAll(/\{ ([\w$, ]+) \} =/g)];
      return [
        ...found.map(([, name]) => name as string),
        ...destructured.flatMap(([, list]) => (list as string).split(', ')),
      ];
    }),
  ),
].filter((name) => !(name in Object.prototype));

const failure = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return (error as Error).message;
  }
};

const creation = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };

const cases: Record<string, () => unknown> = {
  record: () => findStatusRecordIssues(sampleRecord()),
  'no record': () => findStatusRecordIssues([]),
  'malformed date': () => findStatusRecordIssues(sampleRecord({ updatedAt: 'yesterday' })),
  'day that does not exist': () =>
    findStatusRecordIssues(sampleRecord({ updatedAt: '2026-02-30T12:00:05Z' })),
  'wrong types': () => findStatusRecordIssues({ referenceNumber: 5, status: '', createdAt: null }),
  creation: () => findCreatePaymentIssues(creation),
  'amount as text': () => findCreatePaymentIssues({ ...creation, amount: '2500' }),
  'amount too large': () => findCreatePaymentIssues({ ...creation, amount: 1e300 }),
  'blank reference': () =>
    findCreatePaymentIssues({ ...creation, merchantPaymentReference: ' ', currency: 'eur' }),
  'number as reference': () =>
    findCreatePaymentIssues({ ...creation, merchantPaymentReference: 5, currency: 5 }),
  'fault with defaults': () => checkFault({ on: 'callback', type: 'duplicate' }),
  'fault with a wrong parameter': () =>
    failure(() => checkFault({ on: 'callback', type: 'duplicate', copies: 0 })),
  'unknown type of fault': () => failure(() => checkFault({ on: 'callback', type: 'planted' })),
};

it('reads every name of zod', () => {
  expect(names).toEqual(
    expect.arrayContaining(['skipChecks', 'direction', 'memo', 'aborted', 'when', 'coerce']),
  );
});

// Only JSON is compared, since the comparison must not run while something is planted.
const outcomes = (run: () => unknown): string => JSON.stringify(failure(run)) ?? 'undefined';

it.each(Object.entries(cases))('%s: judged as without a planted name of zod', (_what, run) => {
  const expected = outcomes(run);
  const differing = names.flatMap((name) =>
    PLANTED.filter(([, value]) => polluted(name, value, () => outcomes(run)) !== expected).map(
      ([what]) => `${name}: ${what}`,
    ),
  );
  expect(differing).toEqual([]);
});
