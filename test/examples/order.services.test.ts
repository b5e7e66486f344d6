import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { MockServer } from 'merchant-payments/mock-server';
import pg from 'pg';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Example, startExample } from './example-process.js';
import {
  createPayment,
  environmentFor,
  findPayment,
  orderInput,
  startService,
} from './payment-scene.js';

const { DATABASE_URL = '' } = process.env;

// Without a server: test/examples/order.test.ts.
describe.skipIf(!DATABASE_URL)('the example of an order, as a process on Postgres', () => {
  const schema = `order_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(DATABASE_URL || 'postgres://localhost');
  url.searchParams.set('options', `-c search_path=${schema}`);
  let observer: pg.Client;

  beforeEach(async () => {
    observer = new pg.Client({ connectionString: url.href });
    await observer.connect();
    await observer.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`);
    await observer.query(readFileSync('examples/order/schema.sql', 'utf8'));
    onTestFinished(async () => {
      await observer.query(`DROP SCHEMA ${schema} CASCADE`);
      await observer.end();
    });
  });

  const start = (service: MockServer) =>
    startExample('order/main.ts', { ...environmentFor(service), DATABASE_URL: url.href });
  const click = async (example: Example) => {
    const answer = await fetch(new URL('/orders', example.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(orderInput('order-1001')),
    });
    return answer.json();
  };
  const storedOrder = async () => {
    const { rows } = await observer.query(
      'SELECT creation, status, s.reference IS NOT NULL AS shipped FROM orders LEFT JOIN shipments s USING (reference)',
    );
    return rows[0];
  };

  it('keeps one payment when it is killed after sending, and ships it', async () => {
    await using service = await startService();
    service.faults.add({ on: 'request', type: 'delay', delayMs: 60_000 });
    {
      await using killed = await start(service);
      click(killed).catch(() => undefined);
      await service.waitForRequest({});
      await killed.stop('SIGKILL');
    }
    await using example = await start(service);
    expect(await click(example)).toEqual({ creation: 'sending' });
    expect(service.requests).toHaveLength(1);
    // What the service has made of the request.
    await createPayment(service, 'order-1001');
    service.callbackUrl = example.url;
    await service.setStatus(findPayment(service, 'order-1001'), 'paid');
    expect(await storedOrder()).toEqual({ creation: 'created', status: 'paid', shipped: true });
  });

  it('stores the answer of a call that is under way when it is asked to end', async () => {
    await using service = await startService();
    service.faults.add({ on: 'request', type: 'delay', delayMs: 1_000 });
    await using example = await start(service);
    const clicked = click(example);
    await service.waitForRequest({});
    await example.stop('SIGTERM');
    expect(await clicked).toEqual({ creation: 'created' });
    expect(await storedOrder()).toEqual({ creation: 'created', status: null, shipped: false });
  });
});
