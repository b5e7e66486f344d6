import { randomUUID } from 'node:crypto';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, openPage } from '../browser/browser.js';
import { startExample } from './example-process.js';
import { createPayment, environmentFor, findPayment, signingSecret } from './payment-scene.js';
import { createShopSchema, type ShopSchema } from './shop-schema.js';

const STAFF_TOKEN = 'the token of the tests';
const MARKUP = '</p><b id="injected" onclick="1">';

interface Scene extends AsyncDisposable {
  readonly service: MockServer;
  readonly schema: ShopSchema;
  /** Where customers and staff are. Callbacks go to another instance. */
  readonly address: string;
  readonly customer: Page;
  readonly staff: Page;
}

/** Two instances of the shop on one database, a customer and a member of staff. */
async function openShop(): Promise<Scene> {
  const schema = await createShopSchema();
  const service = await startMockServer({ signingSecret, retryScheduleMs: [] });
  const env = { ...environmentFor(service), DATABASE_URL: schema.url, STAFF_TOKEN };
  const instances = await Promise.all([1, 2].map(() => startExample('shop/main.ts', env)));
  const [address = '', other] = instances.map(({ url }) => new URL(url).origin);
  service.callbackUrl = `${other}/callbacks/payments`;
  const settings = { origins: [address, 'about:'], expectedErrors: /409/ };
  const viewport = { width: 400, height: 800 };
  const httpCredentials = { username: 'staff', password: STAFF_TOKEN };
  const customer = await openPage({ ...settings, context: { viewport } });
  const staff = await openPage({ ...settings, context: { viewport, httpCredentials } });
  return {
    service,
    schema,
    address,
    customer: customer.page,
    staff: staff.page,
    async [Symbol.asyncDispose]() {
      const opened = [customer, staff, ...instances];
      const closed = await Promise.allSettled(opened.map((one) => one[Symbol.asyncDispose]()));
      await service.close();
      for (const result of closed) if (result.status === 'rejected') throw result.reason;
    },
  };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();

/** A click on "Pay", or two. Gives the reference of the order. */
async function order({ customer, address }: Scene, clicks: 1 | 2 = 1): Promise<string> {
  await customer.goto(address);
  await customer.getByRole('button', { name: 'Pay' }).click({ clickCount: clicks });
  await customer.waitForURL('**/orders/*');
  return new URL(customer.url()).pathname.split('/').at(-1) ?? '';
}

async function openStaffPage({ staff, address }: Scene): Promise<void> {
  await staff.goto(`${address}/staff`);
}

const lists = (page: Page, title: string) =>
  page.getByRole('region', { name: title }).getByRole('article');

const isEmpty = (page: Page, title: string) =>
  page.getByRole('region', { name: title }).getByText('None.').waitFor();

async function expectNoOverflow(page: Page): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(overflow)).toBe(0);
}

// Without a Postgres: global-setup.ts says so.
describeInBrowser('the shop', () => {
  const shopTest = test.skipIf(!process.env['DATABASE_URL']);

  shopTest(
    'shows a payment to who is back before its callback, and to who is back after',
    async () => {
      await using shop = await openShop();
      const { customer, service } = shop;
      const early = await order(shop);
      await heading(customer, 'Waiting for your payment');
      await expectNoOverflow(customer);
      await service.setStatus(findPayment(service, early), 'paid');
      await heading(customer, 'Thank you, it is paid');

      const late = await order(shop);
      await heading(customer, 'Waiting for your payment');
      const address = customer.url();
      await customer.goto('about:blank'); // as at the service's own pages
      await service.setStatus(findPayment(service, late), 'paid');
      await customer.goto(address);
      await heading(customer, 'Thank you, it is paid');
      expect(await customer.getByRole('button').count()).toBe(0);
    },
  );

  shopTest(
    'has one payment for a double click and a lost answer, which the callback settles',
    async () => {
      await using shop = await openShop();
      const { customer, staff, service } = shop;
      service.faults.add({ on: 'request', type: 'lost-answer' });
      const reference = await order(shop, 2);
      await heading(customer, 'We are checking your payment');
      expect(service.requests).toHaveLength(1);
      expect(service.payments.list()).toHaveLength(1);
      await openStaffPage(shop);
      expect(await lists(staff, 'Unresolved').innerText()).toContain(reference);
      await expectNoOverflow(staff);

      await service.setStatus(findPayment(service, reference), 'paid');
      await heading(customer, 'Thank you, it is paid');
      // Somebody looked at the list before.
      await staff.getByRole('button', { name: 'The service has no payment' }).click();
      await staff.getByRole('alert').getByText("'created'").waitFor();
      expect(await lists(staff, 'Unresolved').count()).toBe(0);
      expect(service.payments.list()).toHaveLength(1);
    },
  );

  shopTest('lets staff resolve what is unresolved, and replay or discard what failed', async () => {
    await using shop = await openShop();
    const { customer, staff, service, schema } = shop;
    service.faults.add({ on: 'request', type: 'html-error' }); // creates nothing
    const reference = await order(shop);
    await heading(customer, 'We are checking your payment');
    await openStaffPage(shop);
    await staff.getByRole('button', { name: 'The service has no payment' }).click();
    await isEmpty(staff, 'Unresolved');
    await heading(customer, 'Your payment was not accepted');
    await customer.getByRole('button', { name: 'Pay' }).click();
    await heading(customer, 'Waiting for your payment');

    await schema.query('ALTER TABLE shipments RENAME TO mislaid');
    const referenceNumber = findPayment(service, reference);
    await service.setStatus(referenceNumber, 'paid');
    await schema.query('ALTER TABLE mislaid RENAME TO shipments');
    await staff.reload();
    await lists(staff, 'Failed changes').getByText('relation "shipments" does not exist').waitFor();
    await staff.getByRole('button', { name: 'Replay' }).click();
    await isEmpty(staff, 'Failed changes');
    await heading(customer, 'Thank you, it is paid');

    await schema.query('ALTER TABLE orders RENAME TO mislaid');
    await service.setStatus(referenceNumber, 'disputed');
    await schema.query('ALTER TABLE mislaid RENAME TO orders');
    await staff.reload();
    await staff.getByRole('button', { name: 'Discard' }).click();
    await isEmpty(staff, 'Failed changes');
  });

  shopTest('shows staff, and nobody else, a second payment, and markup as text', async () => {
    await using shop = await openShop();
    const { staff, service, address } = shop;
    const reference = await order(shop);
    const first = findPayment(service, reference);
    await service.setStatus(first, 'paid');
    await createPayment(service, reference); // by hand, at the service
    const second = service.payments.list().find((payment) => payment.referenceNumber !== first);
    await service.setStatus(second?.referenceNumber ?? '', MARKUP);
    await openStaffPage(shop);
    const text = await lists(staff, 'Second payments').innerText();
    expect(text).toContain(second?.referenceNumber);
    expect(text).toContain(MARKUP);
    expect(await staff.locator('#injected').count()).toBe(0);

    const ask = async (method: string, password: string) => {
      const authorization = `Basic ${Buffer.from(`staff:${password}`).toString('base64')}`;
      const path = method === 'POST' ? '/staff/resolve' : '/staff';
      return (await fetch(`${address}${path}`, { method, headers: { authorization } })).status;
    };
    expect((await fetch(`${address}/staff`)).status).toBe(401);
    expect((await fetch(`${address}/orders/${randomUUID()}`)).status).toBe(404);
    expect(await ask('GET', 'a wrong token')).toBe(401);
    expect(await ask('GET', STAFF_TOKEN)).toBe(200);
    expect(await ask('POST', STAFF_TOKEN)).toBe(403); // not from a page of the shop
  });
});
