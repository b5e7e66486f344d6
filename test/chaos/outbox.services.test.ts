import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../services/start-postgres.js';
import { type OutboxRunOptions, runOutboxTest } from './outbox-run.js';
import { hasSqlite } from './sqlite-file.js';

// The full size is `npm run test:chaos -- outbox`.
const TIMEOUT_MS = 150_000;

async function expectNoMistake(options: Pick<OutboxRunOptions, 'outbox'>): Promise<void> {
  const report = await runOutboxTest({ ...options, orders: 80, processes: 4, killEveryMs: 200 });
  console.log(report.text);
  expect(report.mistakes).toEqual([]);
  expect(report.counts['kills']).toBeGreaterThan(0);
  expect(report.counts['created']).toBeGreaterThan(0);
  expect(report.counts['unresolved']).toBeGreaterThan(0);
}

describe('processes of a shop that are killed while they create payments', () => {
  it.skipIf(!hasPostgres)(
    'leave no order with two payments on Postgres',
    () => expectNoMistake({ outbox: 'postgres' }),
    TIMEOUT_MS,
  );

  it.skipIf(!hasSqlite)(
    'leave no order with two payments on SQLite',
    () => expectNoMistake({ outbox: 'sqlite' }),
    TIMEOUT_MS,
  );
});
