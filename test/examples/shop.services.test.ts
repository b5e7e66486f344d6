import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Fault, type MockServer, startMockServer } from 'merchant-payments/mock-server';
import type { Attention, UnresolvedPayment } from 'merchant-payments/store';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startExample } from './example-process.js';
import { createPayment, environmentFor, findPayment, signingSecret } from './payment-scene.js';
import { createShopSchema, endLifetimes, type ShopSchema } from './shop-schema.js';
import { database } from './switchable-postgres.js';

// The shop of docs/order-from-checkout-to-paid.md, without its pages, which shop.browser.test.ts opens.

const EXAMPLE = 'examples/shop';
const RETRY_MS = 3_600_000;
const REFERENCE = 'order-1001';

interface Shop {
  readonly checkout: () => Promise<void>;
  /** A click on "Pay". Resolves with the payment's state. */
  readonly click: () => Promise<string | undefined>;
  readonly transaction: typeof import('../../examples/shop/database.js')['transaction'];
  readonly readUnpaid: typeof import('../../examples/shop/lists.js')['readUnpaid'];
  readonly store: typeof import('../../examples/shop/database.js')['store'];
  readonly replay: typeof import('../../examples/shop/callbacks.js')['handleCallback']['replay'];
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
  const checkout = () => checkOut(REFERENCE, 2500);
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
  return { checkout, click, transaction, readUnpaid, store, replay: handleCallback.replay };
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

/** What needs a person, of one kind. */
async function listed<Kind extends Attention['kind']>(
  store: Shop['store'],
  kind: Kind,
  olderThanMs = 0,
): Promise<Extract<Attention, { kind: Kind }>[]> {
  const items = [];
  for await (const item of store.attention({ kinds: [kind], olderThanMs })) items.push(item);
  return items as Extract<Attention, { kind: Kind }>[];
}

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

    it('creates one payment for two clicks at once, and for one later', async () => {
      const { service, click, schema } = await openShop();
      expect(await Promise.all([click(), click()])).toEqual(['created', 'created']);
      expect(await click()).toBe('created');
      expect(service.requests).toHaveLength(1);
      expect(service.payments.list()).toHaveLength(1);
      expect(await storedOrder(schema)).toEqual({ status: null, shipped: false });
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

    it.each<[Fault, string]>([
      [{ on: 'request', type: 'unauthorized' }, 'rejected'],
      [{ on: 'request', type: 'rate-limit', retryAfterSeconds: 60 }, 'recorded'],
    ])('after %o no payment exists, and the next click creates it', async (fault, state) => {
      const { service, click, store } = await openShop();
      service.faults.add(fault);
      expect(await click()).toBe(state);
      expect(await listed(store, 'unresolved')).toEqual([]);
      expect(service.payments.list()).toHaveLength(0);
      expect(await click()).toBe('created');
      expect(service.payments.list()).toHaveLength(1);
    });

    it('knows that the payment exists when only the body of the answer is lost', async () => {
      const { service, click } = await openShop();
      service.faults.add({ on: 'request', type: 'reset-in-body' });
      expect(await click()).toBe('created');
      expect(service.payments.list()).toHaveLength(1);
    });

    it('lists an order whose answer is lost, until the callback settles it', async () => {
      const { service, click, store, schema } = await openShop();
      service.faults.add({ on: 'request', type: 'lost-answer' });
      expect(await click()).toBe('unresolved');
      expect(await click()).toBe('unresolved'); // the customer clicks again: nothing is sent
      expect(service.requests).toHaveLength(1);
      expect(await listed(store, 'unresolved')).toEqual([]); // its request may still arrive
      await endLifetimes(schema);
      expect(await listed(store, 'unresolved')).toMatchObject([
        { merchantPaymentReference: REFERENCE, attempts: 1 },
      ]);
      expect(await listed(store, 'unresolved', 3_600_000)).toEqual([]);
      await service.setStatus(paymentOf(service), 'paid');
      expect(await storedOrder(schema)).toEqual(paid);
      expect(await listed(store, 'unresolved')).toEqual([]);
      expect(await store.get(REFERENCE)).toMatchObject({ state: 'created' });
    });

    it('is tried again after a 502 only when a person has found no payment', async () => {
      const { service, click, store, schema } = await openShop();
      service.faults.add({ on: 'request', type: 'html-error' });
      expect(await click()).toBe('unresolved');
      expect(await click()).toBe('unresolved');
      expect(service.requests).toHaveLength(1);
      // The request may still be on its way.
      expect(await listed(store, 'unresolved')).toEqual([]);
      const guessed = { merchantPaymentReference: REFERENCE, attempts: 1, listedAt: new Date() };
      const early = store.markNotCreated(guessed);
      await expect(early).rejects.toMatchObject({ code: 'STATE_CHANGED' });
      await endLifetimes(schema);
      const [seen] = await listed(store, 'unresolved');
      if (seen === undefined) expect.fail('it is not listed');
      await store.markNotCreated(seen as UnresolvedPayment);
      expect(await listed(store, 'unresolved')).toEqual([]);
      expect(await click()).toBe('created');
      expect(service.payments.list()).toHaveLength(1);
    });

    it('cannot be declared as not created when its callback has come', async () => {
      const { service, click, store, schema } = await openShop();
      service.faults.add({ on: 'request', type: 'lost-answer' });
      await click();
      await service.setStatus(paymentOf(service), 'paid');
      await endLifetimes(schema);
      const listed = { merchantPaymentReference: REFERENCE, attempts: 1, listedAt: new Date() };
      await expect(store.markNotCreated(listed)).rejects.toMatchObject({ code: 'STATE_CHANGED' });
      expect(await click()).toBe('created');
      expect(service.payments.list()).toHaveLength(1);
    });

    it('gives what a callback said that was faster than the failure', async () => {
      const { service, click, schema } = await openShop();
      service.faults.add({ on: 'request', type: 'hang' });
      const clicked = click();
      await service.waitForRequest({});
      // The request hangs at the service; the payment that it makes is this one.
      await createPayment(service, REFERENCE);
      await service.setStatus(paymentOf(service), 'paid');
      await service.close(); // the connection breaks: the outcome is unknown
      expect(await clicked).toBe('created');
      expect(await storedOrder(schema)).toEqual(paid);
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

    it('is retried through a night without a database', async () => {
      const { service, click, schema } = await openShop();
      await click();
      database.isDown = true;
      await service.setStatus(paymentOf(service), 'paid');
      await advance(service, RETRY_MS);
      expect(answers(service)).toEqual([500, 500]);
      database.isDown = false;
      await advance(service, RETRY_MS);
      expect(answers(service)).toEqual([500, 500, 200]);
      expect(await storedOrder(schema)).toEqual(paid);
    });

    it('that the shop cannot process is kept, and replayed when the cause is gone', async () => {
      const { service, click, schema, store, replay } = await openShop();
      await click();
      await schema.query('ALTER TABLE shipments RENAME TO mislaid');
      await service.setStatus(paymentOf(service), 'paid');
      expect(answers(service)).toEqual([500]);
      const [failed] = await listed(store, 'failed-change');
      expect(failed).toMatchObject({ attempts: 1, referenceNumber: paymentOf(service) });
      await schema.query('ALTER TABLE mislaid RENAME TO shipments');
      if (failed === undefined) expect.fail('it was not kept');
      expect(await replay(failed)).toMatchObject({ status: 200, outcome: 'processed' });
      expect(await storedOrder(schema)).toEqual(paid);
      expect(await listed(store, 'failed-change')).toEqual([]);
    });

    it('of a second payment is listed, and ships nothing more', async () => {
      const { service, click, schema, store } = await openShop();
      await click();
      const first = paymentOf(service);
      await service.setStatus(first, 'paid');
      await createPayment(service, REFERENCE); // by hand, at the service
      const second = service.payments
        .list()
        .find(({ referenceNumber }) => referenceNumber !== first);
      await service.setStatus(second?.referenceNumber ?? '', 'paid');
      expect(await listed(store, 'second-payment')).toMatchObject([
        { merchantPaymentReference: REFERENCE, referenceNumber: second?.referenceNumber },
      ]);
      expect(await storedOrder(schema)).toEqual(paid);
      await service.setStatus(second?.referenceNumber ?? '', 'refunded');
      expect(await storedOrder(schema)).toEqual(paid);
    });

    it('of the first payment changes nothing once a second one was paid', async () => {
      const { service, click, schema } = await openShop();
      await click();
      const first = paymentOf(service);
      await createPayment(service, REFERENCE); // by hand, at the service
      const second = service.payments
        .list()
        .find(({ referenceNumber }) => referenceNumber !== first);
      await service.setStatus(second?.referenceNumber ?? '', 'paid');
      await service.setStatus(first, 'expired');
      expect(await storedOrder(schema)).toEqual(paid);
      await service.setStatus(second?.referenceNumber ?? '', 'refunded');
      expect(await storedOrder(schema)).toMatchObject({ status: 'refunded' });
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
