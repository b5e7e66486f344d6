import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startExample } from './example-process.js';
import { createPayment, environmentFor, findPayment, signingSecret } from './payment-scene.js';
import { createShopSchema, type ShopSchema } from './shop-schema.js';
import { database } from './switchable-postgres.js';

// The shop of docs/order-from-checkout-to-paid.md, without its pages, which shop.browser.test.ts opens.

const EXAMPLE = 'examples/shop';
const RETRY_MS = 3_600_000;
const REFERENCE = 'order-1001';

interface Shop {
  readonly checkout: (amount?: number) => Promise<void>;
  /** A click on "Pay". Resolves with the payment's state. */
  readonly click: () => Promise<string | undefined>;
  readonly transaction: typeof import('../../examples/shop/database.js')['transaction'];
  readonly readUnpaid: typeof import('../../examples/shop/lists.js')['readUnpaid'];
  readonly store: typeof import('../../examples/shop/database.js')['store'];
}

/** The modules of one process of the shop, with a database that can be switched off. */
async function startShop(service: MockServer, { url }: ShopSchema): Promise<Shop> {
  for (const [name, value] of Object.entries(environmentFor(service))) vi.stubEnv(name, value);
  vi.stubEnv('DATABASE_URL', url);
  const folder = path.resolve(mkdtempSync('test-artifacts/shop-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of readdirSync(EXAMPLE).filter((name) => name.endsWith('.ts'))) {
    const code = readFileSync(path.join(EXAMPLE, file), 'utf8');
    writeFileSync(
      path.join(folder, file),
      code.replace("from 'pg'", `from '${path.resolve('test/examples/switchable-postgres.ts')}'`),
    );
  }
  const load = (name: string) => import(path.join(folder, `${name}.ts`));
  const { checkout: checkOut } = await load('checkout');
  const checkout = (amount = 2500) => checkOut(REFERENCE, amount);
  const { handleCallback } = await load('callbacks');
  const { client, pool, store, transaction } = await load('database');
  const { readUnpaid } = await load('lists');
  await store.setup();
  const server = createServer(handleCallback);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await service.close(); // ends calls that hang
    await client.close();
    server.close();
    await handleCallback.idle();
    await pool.end();
  });
  service.callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const click = async () => {
    await checkout();
    return (await store.get(REFERENCE))?.state;
  };
  return { checkout, click, transaction, readUnpaid, store };
}

interface Scene extends Shop {
  readonly service: MockServer;
  readonly schema: ShopSchema;
}

async function openShop(): Promise<Scene> {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const schema = await createShopSchema();
  onTestFinished(() => schema[Symbol.asyncDispose]());
  const service = await startMockServer({
    signingSecret,
    retryScheduleMs: [RETRY_MS, RETRY_MS, RETRY_MS],
  });
  return { service, schema, ...(await startShop(service, schema)) };
}

/** Brings retries and delays forward, as `merchant-payments clock advance` does. */
async function advance({ url }: MockServer, ms: number): Promise<void> {
  await fetch(`${url}/_mock/clock/advance`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ms }),
  });
}

const paymentOf = (service: MockServer) => findPayment(service, REFERENCE);

const answers = ({ deliveries }: MockServer) => deliveries.map(({ response }) => response?.status);

async function storedOrder({ query }: ShopSchema): Promise<unknown> {
  const rows = await query(
    'SELECT status, shipments IS NOT NULL AS shipped FROM orders LEFT JOIN shipments USING (merchant_payment_reference)',
  );
  expect(rows.length).toBeLessThan(2);
  return rows[0];
}

const paid = { status: 'paid', shipped: true };

describe.skipIf(!process.env['DATABASE_URL'])('the shop, on Postgres', () => {
  afterEach(() => {
    database.isDown = false;
  });

  describe('checkout', () => {
    it('creates a payment, and the callback ships the order', async () => {
      const { service, click, schema } = await openShop();
      expect(await click()).toBe('created');
      expect(await storedOrder(schema)).toEqual({ status: null, shipped: false });
      await service.setStatus(paymentOf(service), 'paid');
      expect(await storedOrder(schema)).toEqual(paid);
    });

    it('stores and sends nothing when the database is down', async () => {
      const { service, click, schema } = await openShop();
      database.isDown = true;
      await expect(click()).rejects.toThrow('ECONNREFUSED');
      expect(service.requests).toHaveLength(0);
      expect(await storedOrder(schema)).toBeUndefined();
    });

    it('leads to the order, not to an error, when the database fails during the call', async () => {
      const { service, checkout, store } = await openShop();
      service.faults.add({ on: 'request', type: 'delay', delayMs: 1 });
      const clicked = checkout();
      await service.waitForRequest({});
      database.isDown = true;
      await advance(service, 1);
      await clicked;
      database.isDown = false;
      expect(console.error).toHaveBeenCalledExactlyOnceWith(
        expect.stringMatching(/^order-1001: .*it was created.*could not be stored/),
      );
      expect(await store.get(REFERENCE)).toMatchObject({ state: 'sending' });
      await service.setStatus(paymentOf(service), 'paid');
      expect(await store.get(REFERENCE)).toMatchObject({ state: 'created' });
    });

    it('survives a connection that breaks in the middle of its transaction', async () => {
      const { click, schema, transaction } = await openShop();
      const broken = transaction(async (tx) => {
        const { rows } = await tx.query('SELECT pg_backend_pid() AS pid');
        const ended = new Promise((resolve) => tx.once('end', resolve as () => void));
        await schema.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
        await ended;
        await tx.query('SELECT 1');
      });
      await expect(broken).rejects.toThrow('connection error');
      expect(await click()).toBe('created');
    });

    it('leads to the order, with its one payment, when the cart has changed since', async () => {
      const { service, click, checkout } = await openShop();
      await click();
      await checkout(1200);
      expect(service.payments.list()).toMatchObject([{ amount: 2500 }]);
    });

    it('leads to the order when the credentials are wrong, and the next click creates its payment', async () => {
      const { service, click } = await openShop();
      service.faults.add({ on: 'request', type: 'unauthorized' });
      expect(await click()).toBe('rejected');
      expect(await click()).toBe('created');
      expect(service.payments.list()).toHaveLength(1);
    });
  });

  describe('a callback', () => {
    it('whose order is not stored is answered 503, and processed by a retry', async () => {
      const { service, schema } = await openShop();
      await createPayment(service, REFERENCE);
      await service.setStatus(paymentOf(service), 'paid');
      await schema.query('INSERT INTO orders (merchant_payment_reference) VALUES ($1)', [
        REFERENCE,
      ]);
      await advance(service, RETRY_MS);
      expect(answers(service)).toEqual([503, 200]);
      expect(await storedOrder(schema)).toEqual(paid);
    });

    it('ships once, however often it is delivered and paid', async () => {
      const { service, click, schema } = await openShop();
      await click();
      service.faults.add({ on: 'callback', type: 'duplicate', copies: 4, mode: 'at-once' });
      await service.setStatus(paymentOf(service), 'paid');
      await service.setStatus(paymentOf(service), 'disputed');
      await service.setStatus(paymentOf(service), 'paid');
      expect(answers(service)).toEqual([200, 200, 200, 200, 200, 200, 200]);
      expect(await storedOrder(schema)).toEqual(paid);
    });

    it('that is older than another one ships, and does not turn the status back', async () => {
      const { service, click, schema } = await openShop();
      await click();
      service.faults.add({ on: 'callback', type: 'drop', match: { status: 'paid' } });
      await service.setStatus(paymentOf(service), 'paid');
      await advance(service, 1_000);
      await service.setStatus(paymentOf(service), 'settled');
      await advance(service, RETRY_MS);
      expect(await storedOrder(schema)).toEqual({ status: 'settled', shipped: true });
    });

    it('that is lost for good leaves its order on a list, though an earlier one has arrived', async () => {
      const { service, click, readUnpaid, schema } = await openShop();
      await click();
      await service.setStatus(paymentOf(service), 'pending');
      service.faults.add({ on: 'callback', type: 'drop', match: { status: 'paid' } });
      await service.setStatus(paymentOf(service), 'paid');
      expect(await readUnpaid()).toEqual([]);
      await schema.query(`UPDATE orders SET created_at = now() - interval '25 hours'`);
      const order = { reference: REFERENCE, status: 'pending' };
      expect(await readUnpaid()).toMatchObject([order]);
      await schema.query('INSERT INTO shipments VALUES ($1)', [REFERENCE]);
      expect(await readUnpaid()).toEqual([]);
    });
  });

  describe('a process of the shop', () => {
    const start = (service: MockServer, { url }: ShopSchema) =>
      startExample('shop/with-staff.ts', {
        ...environmentFor(service),
        DATABASE_URL: url,
        STAFF_TOKEN: 'the token of the tests',
      });
    const reference = '0b1f7d0a-64d1-4f0e-9c55-3f2f6d2f0c11';
    const click = (address: string) =>
      fetch(new URL('/orders', address), {
        method: 'POST',
        body: new URLSearchParams({ reference }),
        redirect: 'manual',
      });

    it('that is killed after sending leaves one payment, and its callback ships', async () => {
      await using schema = await createShopSchema();
      await using service = await startMockServer({ signingSecret, retryScheduleMs: [] });
      service.faults.add({ on: 'request', type: 'hang' });
      {
        await using killed = await start(service, schema);
        click(killed.url).catch(() => undefined);
        await service.waitForRequest({});
        await killed.stop('SIGKILL');
      }
      await using next = await start(service, schema);
      // What the service has made of the request.
      await createPayment(service, reference);
      service.callbackUrl = new URL('/callbacks/payments', next.url).href;
      await service.setStatus(findPayment(service, reference), 'paid');
      expect(await storedOrder(schema)).toEqual(paid);
      expect((await click(next.url)).status).toBe(303);
      expect(service.payments.list()).toHaveLength(1);
    });

    it('that is asked to end stores the answer of a call that is under way', async () => {
      await using schema = await createShopSchema();
      await using service = await startMockServer({ signingSecret, retryScheduleMs: [] });
      service.faults.add({ on: 'request', type: 'delay', delayMs: 1_000 });
      await using example = await start(service, schema);
      const clicked = click(example.url);
      await service.waitForRequest({});
      await example.stop('SIGTERM');
      const answer = await clicked;
      expect(answer.headers.get('location')).toBe(`/orders/${reference}`);
      await using next = await start(service, schema);
      expect((await click(next.url)).status).toBe(303);
      expect(service.requests).toHaveLength(1);
    });
  });
});
