import { describe, expect, it } from 'vitest';
import { hasMariadb } from '../services/start-mariadb.js';
import { hasPostgres } from '../services/start-postgres.js';
import { runShopTest, type ShopRunOptions } from './shop-run.js';
import { hasSqlite } from './sqlite-file.js';

// The full size is that of main.ts.
const TIMEOUT_MS = 150_000;

async function expectNoMistake(options: Pick<ShopRunOptions, 'kind' | 'callbacks'>): Promise<void> {
  // Orders that are tried again have several payments.
  const orders = options.callbacks === 'meanwhile' ? 40 : 50;
  const report = await runShopTest({ ...options, orders, processes: 4, killEveryMs: 200 });
  console.log(report.text);
  const { mistakes, counts } = report;
  expect(mistakes).toEqual([]);
  expect(counts['kills']).toBeGreaterThan(0);
  expect(counts['looks for torn orders']).toBeGreaterThan(0);
  expect(counts['requests that outlasted the lease']).toBeGreaterThan(0);
  expect(counts['at the end: created']).toBeGreaterThan(0);
  expect(counts['changes without effect']).toBe(0);
  if (options.callbacks === 'meanwhile') {
    expect(counts['effects run as older']).toBeGreaterThan(0);
    expect(counts['store down (ms)']).toBeGreaterThan(0);
    expect(counts['further payments']).toBeGreaterThan(0);
  } else {
    expect(counts['before the callbacks: unresolved']).toBeGreaterThan(0);
  }
}

const kinds = [
  { kind: 'postgres', isThere: hasPostgres },
  { kind: 'mysql', isThere: hasMariadb },
  { kind: 'sqlite', isThere: hasSqlite },
] as const;

describe.each([
  { callbacks: 'afterwards', promise: 'leave no order with two payments' },
  { callbacks: 'meanwhile', promise: 'leave each order as its payment is, each change done once' },
] as const)(
  'processes of a shop that are killed, callbacks $callbacks,',
  ({ callbacks, promise }) => {
    for (const { kind, isThere } of kinds) {
      const run = () => expectNoMistake({ kind, callbacks });
      it.skipIf(!isThere)(`${promise}, on ${kind}`, run, TIMEOUT_MS);
    }
  },
);
