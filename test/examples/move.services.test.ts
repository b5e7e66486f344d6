import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { PaymentClient } from 'merchant-payments';
import type { MockServer } from 'merchant-payments/mock-server';
import { sqliteStore } from 'merchant-payments/sqlite';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Order } from '../../examples/move/orders.js';
import { type Example, runExample, startExample } from './example-process.js';
import { environmentFor, findPayment, startService } from './payment-scene.js';

// What docs/move-an-existing-integration.md promises, with its shops as processes on one file.

let service: MockServer;
let file: string;
/** Those that run and those that have ended. */
let shops: Example[];

beforeEach(async () => {
  service = await startService();
  const folder = path.resolve(mkdtempSync('test-artifacts/move-'));
  file = path.join(folder, 'shop.db');
  shops = [];
  onTestFinished(async () => {
    for (const shop of shops) await shop.stop('SIGTERM');
    await service.close();
    rmSync(folder, { recursive: true });
  });
});

const environment = (env = {}) => ({ ...environmentFor(service), DATABASE_FILE: file, ...env });

/** Starts a shop beside those that run, and points the callbacks at it. */
async function start(program: string, env = {}): Promise<Example> {
  const shop = await startExample(`move/${program}.ts`, environment(env));
  shops.push(shop);
  service.callbackUrl = shop.url;
  return shop;
}

const startOldShop = () => start('old-shop');
const startMovedShop = () => start('moved-shop');
const startMovedShopThatCreates = () => start('moved-shop', { CREATE_BY: 'store' });

function execute(sql: string): void {
  const database = new Database(file);
  database.exec(sql);
  database.close();
}

const migrate = () => execute(readFileSync('examples/move/migration.sql', 'utf8'));

/** Resolves with the order, and the state of its payment in the store. */
async function click(shop: Example, reference: string) {
  const response = await post(shop, reference);
  expect(response.status).toBe(200);
  return (await response.json()) as Order & { state?: string };
}

const post = (shop: Example, reference: string) =>
  fetch(new URL(`/orders/${reference}/pay`, shop.url), { method: 'POST' });

const handBack = () => runExample('move/way-back.ts', [], environment());

/** How many payments of an order the service has. */
const countPayments = (reference: string) =>
  service.payments.list().filter((one) => one.merchantPaymentReference === reference).length;

/** How often an order was shipped, by any shop. */
const countParcels = (reference: string) =>
  shops.flatMap(({ lines }) => lines).filter((line) => line === `${reference} is shipped`).length;

/** Sets the status of an order's only payment, and resolves with what its callback was answered. */
async function setStatus(reference: string, status: string) {
  await service.setStatus(findPayment(service, reference), status);
  return service.deliveries.at(-1)?.response?.status;
}

async function resend(id: string) {
  await service.resend(id);
  return service.deliveries.at(-1)?.response?.status;
}

/** An order of the old shop whose payment exists, which the shop has not heard. */
async function loseAnAnswer(shop: Example, reference: string): Promise<void> {
  service.faults.add({ on: 'request', type: 'lost-answer' });
  expect((await post(shop, reference)).status).toBe(500);
}

const inFlight = ['created', 'paid', 'declined', 'lost', 'late'];

/** An old shop with an order at each stage. */
async function startWithOrdersInFlight(): Promise<Example> {
  const shop = await startOldShop();
  for (const reference of ['created', 'paid', 'declined', 'late']) await click(shop, reference);
  await loseAnAnswer(shop, 'lost');
  expect(await setStatus('paid', 'paid')).toBe(200);
  expect(await setStatus('declined', 'declined')).toBe(200);
  return shop;
}

it('moves an order at any stage, without a second payment, and ships it once', async () => {
  const oldShop = await startWithOrdersInFlight();
  migrate();
  // An instance after the other.
  const moved = await startMovedShop();
  expect(await setStatus('late', 'authorized')).toBe(200);
  expect(await click(moved, 'late')).toMatchObject({ in_store: 0, state: 'created' });
  await click(oldShop, 'beside');
  await oldShop.stop('SIGTERM');
  await click(moved, 'by-hand');

  const creating = await startMovedShopThatCreates();
  await loseAnAnswerOfTheStore(creating, 'new');
  expect(await click(moved, 'new')).toMatchObject({ in_store: 1, state: 'unresolved' });
  await moved.stop('SIGTERM');

  const references = [...inFlight, 'beside', 'by-hand', 'new'];
  for (const reference of references) {
    for (const _click of [1, 2]) await click(creating, reference);
    expect(countPayments(reference), reference).toBe(1);
  }
  expect(await resend(findPayment(service, 'paid'))).toBe(200);
  for (const reference of references.filter((one) => one !== 'paid' && one !== 'declined')) {
    expect(await setStatus(reference, 'paid')).toBe(200);
  }
  for (const reference of references) {
    const order = await click(creating, reference);
    const isPaid = reference !== 'declined';
    expect(order.status, reference).toBe(isPaid ? 'paid' : 'declined');
    expect(order.reference_number, reference).toBe(findPayment(service, reference));
    expect(countParcels(reference), reference).toBe(isPaid ? 1 : 0);
    expect(countPayments(reference), reference).toBe(1);
  }
  expect(creating.errors).toEqual([]);
});

/** An order of the moved shop whose payment exists, which the store has not heard. */
async function loseAnAnswerOfTheStore(shop: Example, reference: string): Promise<void> {
  service.faults.add({ on: 'request', type: 'lost-answer' });
  expect(await click(shop, reference)).toMatchObject({ in_store: 1, state: 'unresolved' });
}

it('leaves what the old route has heard as it is when an older callback is late', async () => {
  const oldShop = await startOldShop();
  await click(oldShop, 'order');
  service.faults.add({ on: 'callback', type: 'wrong-secret' });
  expect(await setStatus('order', 'authorized')).toBe(401);
  const [unheard] = service.deliveries;
  expect(await setStatus('order', 'paid')).toBe(200);
  migrate();
  const moved = await startMovedShop();
  expect(await resend(unheard?.deliveryId ?? '')).toBe(200);
  expect(await click(moved, 'order')).toMatchObject({ status: 'paid' });
});

it('tells of a second payment of the old code, of which the store has not heard the first', async () => {
  const oldShop = await startOldShop();
  await loseAnAnswer(oldShop, 'order');
  await click(oldShop, 'order');
  const [first, second] = service.payments.list().map(({ referenceNumber }) => referenceNumber);
  await service.setStatus(first ?? '', 'paid');
  migrate();
  const moved = await startMovedShop();
  await service.setStatus(second ?? '', 'paid');
  await moved.printed(`order is paid twice: ${second}`);
  await service.setStatus(second ?? '', 'refunded');
  expect(await click(moved, 'order')).toMatchObject({ status: 'paid', reference_number: first });
  expect(countParcels('order')).toBe(1);
});

it('creates one payment by hand for two clicks at once, and for one after a lost answer', async () => {
  const oldShop = await startOldShop();
  migrate();
  const moved = await startMovedShop();
  await oldShop.stop('SIGTERM');
  await Promise.all([post(moved, 'double'), post(moved, 'double')]);
  expect(countPayments('double')).toBe(1);
  await loseAnAnswer(moved, 'lost');
  await click(moved, 'lost');
  expect(countPayments('lost')).toBe(1);
  expect(await setStatus('lost', 'paid')).toBe(200);
  expect(countParcels('lost')).toBe(1);
});

it('does not ship for a late callback of a payment that the old route knows as refunded', async () => {
  const oldShop = await startOldShop();
  await click(oldShop, 'order');
  service.faults.add({ on: 'callback', type: 'wrong-secret' });
  expect(await setStatus('order', 'paid')).toBe(401);
  const [unheard] = service.deliveries;
  expect(await setStatus('order', 'refunded')).toBe(200);
  migrate();
  const moved = await startMovedShop();
  expect(await resend(unheard?.deliveryId ?? '')).toBe(200);
  expect(await click(moved, 'order')).toMatchObject({ status: 'refunded', shipped_at: null });
});

it('does not go back while an order has a further attempt, of which the old route knows no order', async () => {
  await startOldShop();
  migrate();
  const creating = await startMovedShopThatCreates();
  await click(creating, 'order');
  expect(await setStatus('order', 'declined')).toBe(200);
  await tryAgain('order');
  await expect(handBack()).rejects.toMatchObject({
    code: 1,
    stdout: 'order has the further attempt order-2\n',
  });
});

/** A click on a shop that has set `declined`. */
async function tryAgain(merchantPaymentReference: string): Promise<void> {
  await using client = PaymentClient.fromEnv({}, environmentFor(service));
  const database = new Database(file);
  const store = sqliteStore(database, { client, declined: ['declined'] });
  await store.create({ merchantPaymentReference, amount: 2500, currency: 'EUR' });
  database.close();
}

it('creates the payment of an old order that a person gives to the store', async () => {
  const oldShop = await startOldShop();
  service.faults.add({ on: 'request', type: 'reset-before-headers' });
  expect((await post(oldShop, 'order')).status).toBe(500);
  expect(countPayments('order')).toBe(0);
  migrate();
  const moved = await startMovedShopThatCreates();
  await click(moved, 'order');
  expect(countPayments('order')).toBe(0);
  execute("UPDATE orders SET in_store = 1 WHERE reference = 'order'");
  for (const _click of [1, 2]) await click(moved, 'order');
  expect(countPayments('order')).toBe(1);
});

it('goes back at each step, without a second payment, and ships once', async () => {
  const first = await startWithOrdersInFlight();
  migrate();
  // From the callbacks.
  const moved = await startMovedShop();
  expect(await setStatus('late', 'paid')).toBe(200);
  await moved.stop('SIGTERM');
  service.callbackUrl = first.url;
  expect(await resend(findPayment(service, 'late'))).toBe(200);
  expect(await click(first, 'late')).toMatchObject({ status: 'paid' });

  // From the creation of payments: an order of the store stays there.
  const creating = await startMovedShopThatCreates();
  await first.stop('SIGTERM');
  await click(creating, 'new');
  await loseAnAnswerOfTheStore(creating, 'unresolved');
  const back = await startMovedShop();
  await creating.stop('SIGTERM');
  await click(back, 'after');
  for (const reference of ['new', 'unresolved', 'after']) await click(back, reference);

  // From all of it, once the store has nothing left of which the old code could create a second one.
  await expect(handBack()).rejects.toMatchObject({ code: 1, stdout: 'unresolved is unresolved\n' });
  expect(await setStatus('unresolved', 'authorized')).toBe(200);
  await handBack();
  const old = await startOldShop();
  await back.stop('SIGTERM');
  const references = ['created', 'paid', 'declined', 'late', 'new', 'unresolved', 'after'];
  for (const reference of references) {
    await click(old, reference);
    expect(countPayments(reference), reference).toBe(1);
    expect(await setStatus(reference, 'paid')).toBe(200);
    expect(await resend(findPayment(service, reference))).toBe(200);
    expect(countParcels(reference), reference).toBe(1);
  }

  // And forth again.
  const again = await startMovedShopThatCreates();
  await old.stop('SIGTERM');
  for (const reference of [...references, 'lost']) {
    await click(again, reference);
    expect(countPayments(reference), reference).toBe(1);
    expect(await setStatus(reference, 'paid')).toBe(200);
    expect(countParcels(reference), reference).toBe(1);
  }
});
