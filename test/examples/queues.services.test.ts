import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { MockServer } from 'merchant-payments/mock-server';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Example, runExample, startExample } from './example-process.js';
import { startFunctionUrl } from './lambda-gateway.js';
import {
  createPayment,
  environmentFor,
  expectToHandlePayments,
  findPayment,
  inProcess,
  startService,
} from './payment-scene.js';
import { startWarehouse, type Warehouse } from './warehouse.js';

const { DATABASE_URL, REDIS_URL } = process.env;

// pg-boss 12 needs it.
const NODE_22 = `test/runtimes/nodes/node_modules/node-22-${process.platform}-${process.arch}/bin/node`;

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
    await expectToHandlePayments(inProcess(gateway.url, lines), {
      service,
      checkout: storeInRedis(service),
      shipped: (reference) => `${reference} is to be shipped`,
    });
  });
});

interface QueueScene {
  readonly service: MockServer;
  readonly warehouse: Warehouse;
  readonly checkout: (reference: string) => Promise<void>;
  readonly start: () => Promise<Example>;
  /** Runs the jobs again that failed for good. */
  readonly retry: () => Promise<void>;
}

/** What every example with a queue does with jobs that overtake each other, or fail for good. */
async function expectToSurviveItsJobs(scene: QueueScene): Promise<void> {
  const { service, warehouse, checkout, start, retry } = scene;
  const pay = async (reference: string) => {
    await checkout(reference);
    await service.setStatus(findPayment(service, reference), 'paid');
  };
  const overtaken = `order-${randomUUID()}`;
  const refused = `order-${randomUUID()}`;
  {
    await using example = await start();
    service.callbackUrl = example.url;

    // The job of `paid` fails and waits for its next attempt. That of `refunded` overtakes it.
    warehouse.answer(overtaken, (method) => (method === 'PUT' ? 503 : 200));
    await pay(overtaken);
    await warehouse.wasTold(overtaken, 'PUT 503');
    await service.setStatus(findPayment(service, overtaken), 'refunded');
    await example.printed(`${overtaken} is cancelled`);
    await example.printed(`no change for ${overtaken}`);
    expect(warehouse.toldOf(overtaken)).not.toContain('PUT 200');
    expect(warehouse.toldOf(overtaken).slice(-2)).toEqual(['DELETE 200', 'DELETE 200']);

    // A second payment is refunded: the order is paid by the first.
    const paidTwice = `order-${randomUUID()}`;
    await pay(paidTwice);
    const first = findPayment(service, paidTwice);
    await createPayment(service, paidTwice);
    const second = service.payments
      .list()
      .find((one) => one.merchantPaymentReference === paidTwice && one.referenceNumber !== first);
    await service.setStatus(second?.referenceNumber ?? '', 'paid');
    await service.setStatus(second?.referenceNumber ?? '', 'refunded');
    await example.printed(`${paidTwice} is shipped`);
    await example.printed(`no change for ${paidTwice}`);
    await service.setStatus(first, 'refunded');
    await example.printed(`${paidTwice} is cancelled`);
    expect(new Set(warehouse.toldOf(paidTwice).slice(0, -1))).toEqual(new Set(['PUT 200']));

    warehouse.answer(refused, () => 422);
    await pay(refused);
    await example.printed(`${refused} is not shipped: the warehouse answered 422`);
  }
  // After a restart too, it is reported.
  await using example = await start();
  await example.printed(`failed for good: ${refused}`);
  expect(example.errors.join('\n')).not.toContain(overtaken);
  // They have corrected the address.
  warehouse.answer(refused, () => 200);
  await retry();
  await example.printed(`${refused} is shipped`);
  expect(warehouse.toldOf(refused)).toEqual(['PUT 422', 'PUT 200']);
}

describe.skipIf(!REDIS_URL)('the example for BullMQ', () => {
  it('handles payments, and delivers in a worker', async () => {
    await using service = await startService();
    await using warehouse = await startWarehouse();
    const env = {
      ...environmentFor(service),
      REDIS_URL,
      QUEUE: `deliveries-${randomUUID()}`,
      WAREHOUSE_URL: warehouse.url,
    };
    const checkout = storeInRedis(service);
    const file = 'queues/bullmq.ts';
    {
      await using example = await startExample(file, env);
      await expectToHandlePayments(example, { service, checkout });
    }
    await expectToSurviveItsJobs({
      service,
      warehouse,
      checkout,
      start: () => startExample(file, env),
      retry: () => runExample(file, ['retry'], env),
    });
  });
});

describe.skipIf(!DATABASE_URL)('the example for pg-boss', () => {
  it('handles payments, and delivers in a worker', async () => {
    // A separate schema for the jobs, the orders and the store's tables.
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
    await using warehouse = await startWarehouse();
    const env = {
      ...environmentFor(service),
      DATABASE_URL: url.href,
      PGBOSS_SCHEMA: schema,
      WAREHOUSE_URL: warehouse.url,
    };
    const checkout = async (reference: string) => {
      await client.query(`INSERT INTO ${schema}.orders (merchant_payment_reference) VALUES ($1)`, [
        reference,
      ]);
      await createPayment(service, reference);
    };
    const file = 'queues/pg-boss.ts';
    {
      await using example = await startExample(file, env, NODE_22);
      await expectToHandlePayments(example, { service, checkout });
    }
    await expectToSurviveItsJobs({
      service,
      warehouse,
      checkout,
      start: () => startExample(file, env, NODE_22),
      retry: () => runExample(file, ['redrive'], env, NODE_22),
    });
    const { rows } = await client.query(
      `SELECT status, delivery FROM ${schema}.orders ORDER BY status, delivery`,
    );
    expect(rows).toEqual([
      { status: 'paid', delivery: 'shipped' },
      { status: 'paid', delivery: 'shipped' },
      { status: 'refunded', delivery: 'cancelled' },
      { status: 'refunded', delivery: 'cancelled' },
      { status: 'settled', delivery: 'shipped' },
    ]);
  });
});
