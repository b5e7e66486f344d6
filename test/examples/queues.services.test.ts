import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { MockServer } from 'merchant-payments/mock-server';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startExample } from './example-process.js';
import { startFunctionUrl } from './lambda-gateway.js';
import {
  createPayment,
  environmentFor,
  expectToHandlePayments,
  startService,
} from './payment-scene.js';

const { DATABASE_URL, REDIS_URL } = process.env;

/** Orders as the examples with Redis keep them. */
function storeInRedis(service: MockServer): (reference: string) => Promise<void> {
  const redis = new Redis(REDIS_URL ?? '');
  const stored: string[] = [];
  onTestFinished(async () => {
    await redis.del(...stored);
    await redis.quit();
  });
  return async (reference) => {
    stored.push(`order:${reference}`);
    await redis.hset(`order:${reference}`, 'status', 'waiting for payment');
    await createPayment(service, reference);
  };
}

describe.skipIf(!REDIS_URL)('the example for Lambda', () => {
  it('handles payments behind a function URL', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
    await using service = await startService();
    for (const [name, value] of Object.entries(environmentFor(service))) vi.stubEnv(name, value);
    const { handler } = await import('../../examples/lambda.js');
    await using gateway = await startFunctionUrl(handler);
    await expectToHandlePayments(
      {
        url: gateway.url,
        lines,
        printed: async (text) => expect(lines.join('\n')).toContain(text),
        stop: async () => undefined,
        [Symbol.asyncDispose]: async () => undefined,
      },
      { service, checkout: storeInRedis(service) },
    );
  });
});

describe.skipIf(!REDIS_URL)('the example for BullMQ', () => {
  it('handles payments, and ships in a worker', { timeout: 60_000 }, async () => {
    await using service = await startService();
    await using example = await startExample('bullmq.ts', {
      ...environmentFor(service),
      REDIS_URL,
      QUEUE: `shipments-${randomUUID()}`,
    });
    await expectToHandlePayments(example, { service, checkout: storeInRedis(service) });
  });
});

describe.skipIf(!DATABASE_URL)('the example for pg-boss', () => {
  it('handles payments, and ships in a worker', { timeout: 60_000 }, async () => {
    // A separate schema for the jobs, the orders and the inbox's tables.
    const schema = `example_${randomUUID().replaceAll('-', '')}`;
    const client = new pg.Client({ connectionString: DATABASE_URL });
    await client.connect();
    await client.query(`CREATE SCHEMA ${schema}`);
    onTestFinished(async () => {
      await client.query(`DROP SCHEMA ${schema} CASCADE`);
      await client.end();
    });
    const url = new URL(DATABASE_URL ?? '');
    url.searchParams.set('options', `-c search_path=${schema}`);
    await using service = await startService();
    await using example = await startExample('pg-boss.ts', {
      ...environmentFor(service),
      DATABASE_URL: url.href,
      PGBOSS_SCHEMA: schema,
    });
    const checkout = async (reference: string) => {
      await client.query(`INSERT INTO ${schema}.orders (reference) VALUES ($1)`, [reference]);
      await createPayment(service, reference);
    };
    await expectToHandlePayments(example, { service, checkout });
    const { rows } = await client.query(
      `SELECT status FROM ${schema}.orders JOIN ${schema}.shipments USING (reference) ORDER BY status`,
    );
    expect(rows).toEqual([{ status: 'paid' }, { status: 'settled' }]);
  });
});
