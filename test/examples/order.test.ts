import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import {
  createRunningClock,
  type Fault,
  type MockServer,
  startMockServer,
} from 'merchant-payments/mock-server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPglite } from '../inbox/postgres/open-pglite.js';
import {
  createPayment,
  environmentFor,
  findPayment,
  orderInput,
  signingSecret,
} from './payment-scene.js';
import { database } from './switchable-postgres.js';

// The example of docs/order-from-checkout-to-paid.md, on a Postgres within this process.

const EXAMPLE = 'examples/order';
const RETRY_MS = 3_600_000;

interface Shop {
  readonly checkout: typeof import('../../examples/order/checkout.js')['checkout'];
  readonly listOpenOrders: typeof import('../../examples/order/open-orders.js')['listOpenOrders'];
  readonly markAsFailed: typeof import('../../examples/order/open-orders.js')['markAsFailed'];
}

/** One process of the shop: a copy with its own modules. Callbacks go to the newest one. */
async function startInstance(service: MockServer): Promise<Shop> {
  for (const [name, value] of Object.entries(environmentFor(service))) vi.stubEnv(name, value);
  const folder = path.resolve(mkdtempSync('test-artifacts/order-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of readdirSync(EXAMPLE)) {
    const code = readFileSync(path.join(EXAMPLE, file), 'utf8');
    writeFileSync(
      path.join(folder, file),
      code.replace("from 'pg'", `from '${path.resolve('test/examples/switchable-postgres.ts')}'`),
    );
  }
  const load = (name: string) => import(path.join(folder, `${name}.ts`));
  const { checkout, client } = await load('checkout');
  const { handleCallback } = await load('callbacks');
  const { inbox } = await load('database');
  const { listOpenOrders, markAsFailed } = await load('open-orders');
  await inbox.setup();
  const server = createServer(handleCallback);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await service.close(); // ends calls that hang
    await client.close();
    server.close();
  });
  service.callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { checkout, listOpenOrders, markAsFailed };
}

let postgres: PGlite;
beforeAll(async () => {
  postgres = await openPglite();
  database.current = postgres;
});
afterAll(() => postgres.close());

interface Scene extends Shop {
  readonly service: MockServer;
  readonly clock: ReturnType<typeof createRunningClock>;
}

async function openShop(): Promise<Scene> {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  database.isDown = false;
  await postgres.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await postgres.exec(readFileSync('examples/order/schema.sql', 'utf8'));
  const clock = createRunningClock();
  const service = await startMockServer({
    clock,
    signingSecret,
    retryScheduleMs: [RETRY_MS, RETRY_MS, RETRY_MS],
  });
  return { service, clock, ...(await startInstance(service)) };
}

const order = orderInput('order-1001');

const paymentOf = (service: MockServer) => findPayment(service, 'order-1001');

const answers = ({ deliveries }: MockServer) => deliveries.map(({ response }) => response?.status);

async function storedOrder(): Promise<unknown> {
  const { rows } = await postgres.query(
    `SELECT creation, status, s.reference IS NOT NULL AS shipped
     FROM orders LEFT JOIN shipments s USING (reference) WHERE reference = 'order-1001'`,
  );
  return rows[0];
}

const paid = { creation: 'created', status: 'paid', shipped: true };

describe('checkout', () => {
  it('creates a payment, and the callback ships the order', async () => {
    const { service, checkout } = await openShop();
    expect(await checkout(order)).toBe('created');
    await service.setStatus(paymentOf(service), 'paid');
    expect(await storedOrder()).toEqual(paid);
  });

  it('creates one payment for two clicks at once, and for one later', async () => {
    const { service, checkout } = await openShop();
    expect(await Promise.all([checkout(order), checkout(order)])).toContain('created');
    expect(await checkout(order)).toBe('created');
    expect(service.requests).toHaveLength(1);
    expect(service.payments.list()).toHaveLength(1);
  });

  it('sends nothing when the order cannot be stored', async () => {
    const { service, checkout } = await openShop();
    database.isDown = true;
    await expect(checkout(order)).rejects.toThrow('ECONNREFUSED');
    expect(service.requests).toHaveLength(0);
  });

  it.each<Fault>([
    { on: 'request', type: 'unauthorized' },
    { on: 'request', type: 'rate-limit', retryAfterSeconds: 60 },
  ])('after $type no payment exists, and the next click creates it', async (fault) => {
    const { service, checkout, listOpenOrders } = await openShop();
    service.faults.add(fault);
    expect(await checkout(order)).toBe('failed');
    expect(await listOpenOrders(0)).toEqual([]);
    expect(service.payments.list()).toHaveLength(0);
    expect(await checkout(order)).toBe('created');
    expect(service.payments.list()).toHaveLength(1);
  });

  it('knows that the payment exists when only the body of the answer is lost', async () => {
    const { service, checkout } = await openShop();
    service.faults.add({ on: 'request', type: 'reset-in-body' });
    expect(await checkout(order)).toBe('created');
    expect(service.payments.list()).toHaveLength(1);
  });

  it('keeps an order open whose answer is lost, until the callback settles it', async () => {
    const { service, checkout, listOpenOrders } = await openShop();
    service.faults.add({ on: 'request', type: 'lost-answer' });
    expect(await checkout(order)).toBe('unknown');
    expect(await checkout(order)).toBe('unknown'); // the customer clicks again: nothing is sent
    expect(service.requests).toHaveLength(1);
    expect(await listOpenOrders(0)).toMatchObject([
      { reference: 'order-1001', creation: 'unknown' },
    ]);
    expect(await listOpenOrders(60)).toEqual([]);
    await service.setStatus(paymentOf(service), 'paid');
    expect(await storedOrder()).toEqual(paid);
    expect(await listOpenOrders(0)).toEqual([]);
  });

  it('is tried again after a 502 only when a person has found no payment', async () => {
    const { service, checkout, listOpenOrders, markAsFailed } = await openShop();
    service.faults.add({ on: 'request', type: 'html-error' });
    expect(await checkout(order)).toBe('unknown');
    expect(await checkout(order)).toBe('unknown');
    expect(service.requests).toHaveLength(1);
    await markAsFailed('order-1001');
    expect(await listOpenOrders(0)).toEqual([]);
    expect(await checkout(order)).toBe('created');
    expect(service.payments.list()).toHaveLength(1);
  });

  it('leaves an order whose callback has come to the callback', async () => {
    const { service, checkout, markAsFailed } = await openShop();
    await checkout(order);
    await service.setStatus(paymentOf(service), 'paid');
    await markAsFailed('order-1001');
    expect(await storedOrder()).toEqual(paid);
  });

  it('keeps what a callback said that was faster than the failure', async () => {
    const { service, checkout } = await openShop();
    service.faults.add({ on: 'request', type: 'hang' });
    const clicked = checkout(order);
    await service.waitForRequest({});
    // The request hangs at the service; the payment that it makes is this one.
    await createPayment(service, 'order-1001');
    await service.setStatus(paymentOf(service), 'paid');
    await service.close(); // the connection breaks: the outcome is unknown
    expect(await clicked).toBe('created');
    expect(await storedOrder()).toEqual(paid);
  });
});

describe('a process that dies while it creates a payment', () => {
  it('leaves an open order, which is not sent again and which the callback settles', async () => {
    const { service, checkout } = await openShop();
    service.faults.add({ on: 'request', type: 'hang' });
    void checkout(order).catch(() => undefined);
    await service.waitForRequest({});
    const next = await startInstance(service);
    expect(await next.checkout(order)).toBe('sending');
    expect(service.requests).toHaveLength(1);
    expect(await next.listOpenOrders(0)).toMatchObject([{ creation: 'sending' }]);

    await createPayment(service, 'order-1001');
    await service.setStatus(paymentOf(service), 'paid');
    expect(await storedOrder()).toEqual(paid);
    expect(await next.listOpenOrders(0)).toEqual([]);
  });
});

describe('a callback', () => {
  it('that is earlier than its order is answered 503, and processed by a retry', async () => {
    const { service, clock } = await openShop();
    await createPayment(service, 'order-1001');
    await service.setStatus(paymentOf(service), 'paid');
    await postgres.query("INSERT INTO orders (reference) VALUES ('order-1001')");
    await clock.advance(RETRY_MS);
    expect(answers(service)).toEqual([503, 200]);
    expect(await storedOrder()).toEqual(paid);
  });

  it('ships once, however often it is delivered and paid', async () => {
    const { service, checkout } = await openShop();
    await checkout(order);
    service.faults.add({ on: 'callback', type: 'duplicate', copies: 4, mode: 'at-once' });
    await service.setStatus(paymentOf(service), 'paid');
    await service.setStatus(paymentOf(service), 'disputed');
    await service.setStatus(paymentOf(service), 'paid');
    expect(answers(service)).toEqual([200, 200, 200, 200, 200, 200, 200]);
    expect(await storedOrder()).toEqual(paid);
  });

  it('that is older than another one ships, and does not turn the status back', async () => {
    const { service, clock, checkout } = await openShop();
    await checkout(order);
    service.faults.add({ on: 'callback', type: 'drop', match: { status: 'paid' } });
    await service.setStatus(paymentOf(service), 'paid');
    await clock.advance(1_000);
    await service.setStatus(paymentOf(service), 'settled');
    await clock.advance(RETRY_MS);
    expect(await storedOrder()).toEqual({ creation: 'created', status: 'settled', shipped: true });
  });

  it('is retried through a night without a database', async () => {
    const { service, clock, checkout } = await openShop();
    await checkout(order);
    database.isDown = true;
    await service.setStatus(paymentOf(service), 'paid');
    await clock.advance(RETRY_MS);
    expect(answers(service)).toEqual([500, 500]);
    database.isDown = false;
    await clock.advance(RETRY_MS);
    expect(answers(service)).toEqual([500, 500, 200]);
    expect(await storedOrder()).toEqual(paid);
  });

  it('that the service no longer retries leaves its order on the list', async () => {
    const { service, clock, checkout, listOpenOrders } = await openShop();
    await checkout(order);
    database.isDown = true;
    await service.setStatus(paymentOf(service), 'paid');
    await clock.advance(3 * RETRY_MS);
    database.isDown = false;
    expect(await listOpenOrders(0)).toMatchObject([{ creation: 'created' }]);
    await service.resend(paymentOf(service)); // as the service's support may do
    expect(await storedOrder()).toEqual(paid);
  });
});
