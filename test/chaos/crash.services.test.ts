import { describe, expect, it } from 'vitest';
import { hasRedis } from '../services/start-redis.js';
import { runCrashTest } from './crash-run.js';

// The full size is that of main.ts. Longer than the service keeps retrying: the report says what was lost by then.
describe.skipIf(!hasRedis)('receiver processes on one Redis', { timeout: 150_000 }, () => {
  it('leave the right status and nothing lost, though they and Redis are killed', async () => {
    const { text, mistakes, counts } = await runCrashTest({
      kind: 'redis',
      payments: 120,
      killEveryMs: 200,
    });
    console.log(text);
    expect(mistakes).toEqual([]);
    expect(counts['kills']).toBeGreaterThan(0);
    expect(counts['callbacks sent']).toBeGreaterThanOrEqual(3 * Number(counts['changes']));
    expect(counts['changes without effect']).toBe(0);
    expect(counts['effects run as older']).toBeGreaterThan(0);
    const replies = ['500', '503'].map((status) => counts[`store down: reply ${status}`] ?? 0);
    expect(Math.max(...replies)).toBeGreaterThan(0);
    expect(counts['onError: the work failed']).toBeGreaterThan(0);
  });

  it('are found out when each has a store in its own memory', async () => {
    const { mistakes } = await runCrashTest({ kind: 'memory', processes: 3, payments: 20 });
    expect(mistakes).not.toEqual([]);
  });
});
