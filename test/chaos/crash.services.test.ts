import { describe, expect, it } from 'vitest';
import { hasMariadb } from '../services/start-mariadb.js';
import { hasPostgres } from '../services/start-postgres.js';
import { hasRedis } from '../services/start-redis.js';
import { type CrashRunOptions, runCrashTest } from './crash-run.js';
import type { Report } from './report.js';
import { hasSqlite } from './sqlite-file.js';

// The full size is that of main.ts.
async function run(options: CrashRunOptions): Promise<Report> {
  const report = await runCrashTest(options);
  console.log(report.text);
  return report;
}

const SMALL = { payments: 120, killEveryMs: 200 };
// Longer than the service keeps retrying: the report says what was lost by then.
const TIMEOUT_MS = 150_000;

function expectStress({ counts }: Report): void {
  expect(counts['kills']).toBeGreaterThan(0);
  expect(counts['callbacks sent']).toBeGreaterThanOrEqual(3 * Number(counts['changes']));
  expect(counts['changes without effect']).toBe(0);
  expect(counts['effects run as older']).toBeGreaterThan(0);
  expect(
    (counts['store down: reply 500'] ?? 0) + (counts['store down: reply 503'] ?? 0),
  ).toBeGreaterThan(0);
  expect(counts['onError: the work failed']).toBeGreaterThan(0);
}

describe.skipIf(!hasPostgres)('receiver processes on one Postgres', () => {
  it(
    'leave each effect exactly once and nothing lost, though they and Postgres are killed',
    async () => {
      const report = await run({ kind: 'postgres', ...SMALL });
      expect(report.mistakes).toEqual([]);
      expectStress(report);
    },
    TIMEOUT_MS,
  );

  it('are found out when each has a store in its own memory', async () => {
    const { mistakes } = await run({ kind: 'memory', processes: 3, payments: 20 });
    expect(mistakes).toContainEqual(expect.stringMatching(/: \d effects of /));
  });
});

describe.skipIf(!hasMariadb)('receiver processes on one MariaDB', () => {
  it(
    'leave each effect exactly once and nothing lost, though they and MariaDB are killed',
    async () => {
      const report = await run({ kind: 'mysql', ...SMALL });
      expect(report.mistakes).toEqual([]);
      expectStress(report);
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(!hasRedis)('receiver processes on one Redis', () => {
  it(
    'leave the right status and nothing lost, though they and Redis are killed',
    async () => {
      const report = await run({ kind: 'redis', ...SMALL });
      expect(report.mistakes).toEqual([]);
      expectStress(report);
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(!hasSqlite)('receiver processes on one SQLite file', () => {
  it(
    'ship each change once and lose nothing, though they are killed and the file is locked',
    async () => {
      const report = await run({ kind: 'sqlite', ...SMALL });
      expect(report.mistakes).toEqual([]);
      expectStress(report);
    },
    TIMEOUT_MS,
  );
});
