import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startExample } from './example-process.js';
import { startFunctionUrl } from './lambda-gateway.js';
import { expectToHandlePayments, signingSecret } from './payment-scene.js';

const { DATABASE_URL, REDIS_URL } = process.env;

describe.skipIf(!REDIS_URL)('the example for Lambda', () => {
  it('handles payments behind a function URL', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
    vi.stubEnv('MERCHANT_PAYMENTS_SIGNING_SECRET', signingSecret);
    const { handler } = await import('../../examples/lambda.js');
    await using gateway = await startFunctionUrl(handler);
    await expectToHandlePayments({
      url: gateway.url,
      lines,
      printed: async (text) => expect(lines.join('\n')).toContain(text),
      [Symbol.asyncDispose]: async () => undefined,
    });
  });
});

describe.skipIf(!REDIS_URL)('the example for BullMQ', () => {
  it('handles payments in a worker, each change once', { timeout: 60_000 }, async () => {
    await using example = await startExample('bullmq.ts', {
      REDIS_URL,
      QUEUE: `payment-callbacks-${randomUUID()}`,
      MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
    });
    await expectToHandlePayments(example);
  });
});

describe.skipIf(!DATABASE_URL)('the example for pg-boss', () => {
  it('handles payments in a worker, each change once', { timeout: 60_000 }, async () => {
    // A schema of its own for the jobs and for the inbox's tables.
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
    await using example = await startExample('pg-boss.ts', {
      DATABASE_URL: url.href,
      PGBOSS_SCHEMA: schema,
      MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
    });
    await expectToHandlePayments(example);
  });
});
