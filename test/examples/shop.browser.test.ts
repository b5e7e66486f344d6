import { randomUUID } from 'node:crypto';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeInBrowser, openPage } from '../browser/browser.js';
import { type Example, startExample } from './example-process.js';
import { createPayment, environmentFor, findPayment, signingSecret } from './payment-scene.js';
import { createShopSchema, endLifetimes, type ShopSchema } from './shop-schema.js';

const STAFF_TOKEN = 'the token of the tests';
const MARKUP = '</p><b id="injected" onclick="1">';

let schema: ShopSchema;
let service: MockServer;
/** Two of them on one database: customers and staff are at the first, callbacks go to the second. */
let instances: readonly Example[] = [];
let address = '';

async function startShop(): Promise<void> {
  schema = await createShopSchema();
  service = await startMockServer({ signingSecret, retryScheduleMs: [], paymentPage: true });
  const env = { ...environmentFor(service), DATABASE_URL: schema.url, STAFF_TOKEN };
  instances = await Promise.all([1, 2].map(() => startExample('shop/with-staff.ts', env)));
  const [first = '', second] = instances.map(({ url }) => new URL(url).origin);
  address = first;
  service.callbackUrl = `${second}/callbacks/payments`;
}

async function endShop(): Promise<void> {
  await Promise.all(instances.map((instance) => instance[Symbol.asyncDispose]()));
  await service?.close();
  await schema?.[Symbol.asyncDispose]();
}

const settings = () => ({ origins: [address, service.url, 'about:'], expectedErrors: /40[09]/ });
const viewport = { width: 400, height: 800 };
const httpCredentials = { username: 'staff', password: STAFF_TOKEN };
const openAsCustomer = () => openPage({ ...settings(), context: { viewport } });
const openAsStaff = () => openPage({ ...settings(), context: { viewport, httpCredentials } });

const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();

/** A click on "Pay", or two. Gives the reference of the order. */
async function order(customer: Page, clicks: 1 | 2 = 1): Promise<string> {
  await customer.goto(address);
  await customer.getByRole('button', { name: 'Pay' }).click({ clickCount: clicks });
  await customer.waitForURL('**/orders/*');
  return new URL(customer.url()).pathname.split('/').at(-1) ?? '';
}

const isOf = (order: string) => (payment: { merchantPaymentReference: string }) =>
  payment.merchantPaymentReference.startsWith(order);

const paymentsOf = (reference: string) =>
  service.payments.list().filter((payment) => payment.merchantPaymentReference === reference);

/** A click on the service's own page, which sends the customer back to the shop. */
async function atService(customer: Page, button: 'Pay' | 'Decline'): Promise<void> {
  await customer.getByRole('link', { name: 'Go to the payment page' }).click();
  await customer.getByRole('button', { name: button, exact: true }).click();
  await customer.waitForURL(`${address}/orders/*`);
}

const tryAgain = (customer: Page) => customer.getByRole('button', { name: 'Try again' });

/** An order whose payment was declined, in the customer's tab. */
async function orderDeclined(customer: Page): Promise<string> {
  const reference = await order(customer);
  await service.setStatus(findPayment(service, reference), 'declined');
  await heading(customer, 'Your payment was declined');
  return reference;
}

const openLists = (staff: Page) => staff.goto(`${address}/staff`);

/** Clicks on a button, reads what would follow, and says yes. */
async function press(staff: Page, button: string, consequence: string): Promise<void> {
  await staff.getByRole('button', { name: button }).first().click();
  await staff.getByText(consequence).waitFor();
  await expectNoOverflow(staff);
  await staff.getByRole('button', { name: /^Yes/ }).click();
}

const resolveAsNotCreated = (staff: Page) =>
  press(staff, 'The service has no payment', 'the order is paid twice');

const lists = (page: Page, title: string) =>
  page.getByRole('region', { name: title }).getByRole('article');

const isEmpty = (page: Page, title: string) =>
  page.getByRole('region', { name: title }).getByText('None.').waitFor();

async function expectNoOverflow(page: Page): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(overflow)).toBe(0);
}

// Without a Postgres: global-setup.ts says so.
const hasPostgres = Boolean(process.env['DATABASE_URL']);

describeInBrowser('the shop', () => {
  describe.skipIf(!hasPostgres)('on two instances', () => {
    beforeAll(startShop);
    afterAll(endShop);

    test('shows a payment to who is back before its callback, and to who is back after', async () => {
      await using watched = await openAsCustomer();
      const customer = watched.page;
      const early = await order(customer);
      await heading(customer, 'Waiting for your payment');
      await expectNoOverflow(customer);
      await service.setStatus(findPayment(service, early), 'paid');
      await heading(customer, 'Thank you, it is paid');

      const late = await order(customer);
      await heading(customer, 'Waiting for your payment');
      const page = customer.url();
      await customer.goto('about:blank'); // as at the service's own pages
      await service.setStatus(findPayment(service, late), 'paid');
      await customer.goto(page);
      await heading(customer, 'Thank you, it is paid');
      expect(await customer.getByRole('button').count()).toBe(0);
    });

    test('has one payment for a double click and a lost answer, which the callback settles', async () => {
      await using watchedCustomer = await openAsCustomer();
      await using watchedStaff = await openAsStaff();
      const [customer, staff] = [watchedCustomer.page, watchedStaff.page];
      service.faults.add({ on: 'request', type: 'lost-answer' });
      const reference = await order(customer, 2);
      await heading(customer, 'We are checking your payment');
      expect(await customer.getByRole('button').count()).toBe(0);
      expect(service.faults.pending()).toEqual([]);
      expect(paymentsOf(reference)).toHaveLength(1);
      await endLifetimes(schema);
      await openLists(staff);
      expect(await lists(staff, 'Unresolved').innerText()).toContain(reference);
      await expectNoOverflow(staff);

      await service.setStatus(findPayment(service, reference), 'paid');
      await heading(customer, 'Thank you, it is paid');
      // Somebody looked at the list before.
      await resolveAsNotCreated(staff);
      await staff.getByRole('alert').getByText("'created'").waitFor();
      await isEmpty(staff, 'Unresolved');
      expect(paymentsOf(reference)).toHaveLength(1);
    });

    test('lets staff resolve what is unresolved, and replay or discard what failed', async () => {
      await using watchedCustomer = await openAsCustomer();
      await using watchedStaff = await openAsStaff();
      const [customer, staff] = [watchedCustomer.page, watchedStaff.page];
      service.faults.add({ on: 'request', type: 'html-error' }); // creates nothing
      const reference = await order(customer);
      await heading(customer, 'We are checking your payment');
      await openLists(staff);
      // The request may still be on its way.
      await isEmpty(staff, 'Unresolved');
      await endLifetimes(schema);
      await openLists(staff);
      await resolveAsNotCreated(staff);
      await isEmpty(staff, 'Unresolved');
      await heading(customer, 'Your payment was not accepted');
      await tryAgain(customer).click();
      await heading(customer, 'Waiting for your payment');

      const referenceNumber = findPayment(service, reference);
      await schema.query('ALTER TABLE shipments RENAME TO mislaid');
      await service.setStatus(referenceNumber, 'paid');
      await openLists(staff);
      await press(staff, 'Replay', 'the order ships');
      await staff.getByRole('alert').getByText('"shipments" does not exist').waitFor();
      await schema.query('ALTER TABLE mislaid RENAME TO shipments');
      await openLists(staff);
      await lists(staff, 'Failed changes').getByText('"shipments" does not exist').waitFor();
      await press(staff, 'Replay', 'the order ships');
      await isEmpty(staff, 'Failed changes');
      await heading(customer, 'Thank you, it is paid');

      await schema.query('ALTER TABLE orders RENAME TO mislaid');
      await service.setStatus(referenceNumber, 'disputed');
      await schema.query('ALTER TABLE mislaid RENAME TO orders');
      await openLists(staff);
      await staff.getByRole('button', { name: 'Done' }).click();
      await staff.getByRole('link', { name: 'No, back to the lists' }).click();
      await press(staff, 'Done', 'nothing can replay it');
      await isEmpty(staff, 'Failed changes');

      await service.setStatus(referenceNumber, 'refunded');
      await heading(customer, 'Your payment was refunded');
      await customer.reload();
      await heading(customer, 'Your payment was refunded');
    });

    test('asks for a reference number, and takes what was looked at off the list', async () => {
      await using watchedCustomer = await openAsCustomer();
      await using watchedStaff = await openAsStaff();
      const [customer, staff] = [watchedCustomer.page, watchedStaff.page];
      service.faults.add({ on: 'request', type: 'lost-answer' });
      const reference = await order(customer);
      await heading(customer, 'We are checking your payment');
      await endLifetimes(schema);
      await openLists(staff);
      const field = staff.getByLabel(`Reference number of ${reference}`);
      const send = staff.getByRole('button', { name: 'The service has this one' });
      await field.fill('not-a-number');
      await send.click();
      expect(await staff.locator('input:invalid').count()).toBe(1);
      await field.fill(findPayment(service, reference));
      await press(staff, 'The service has this one', 'nothing is sent again');
      await isEmpty(staff, 'Unresolved');
      await heading(customer, 'Waiting for your payment');

      await schema.query(
        'UPDATE payment_store_payments SET changed_at_ms = changed_at_ms - 7200000',
      );
      await openLists(staff);
      await lists(staff, 'No callback').getByText(reference).waitFor();
      for (
        let left = await staff.getByRole('button', { name: 'Done' }).count();
        left > 0;
        left -= 1
      ) {
        await press(staff, 'Done', 'Its callback is still processed');
      }
      await isEmpty(staff, 'No callback');
    });

    test('lets a customer try again after a decline, and pay then', async () => {
      await using watched = await openAsCustomer();
      const customer = watched.page;
      const reference = await order(customer);
      await atService(customer, 'Decline');
      await heading(customer, 'Your payment was declined');
      await expectNoOverflow(customer);
      await tryAgain(customer).click({ clickCount: 2 });
      await heading(customer, 'Waiting for your payment');
      expect(await tryAgain(customer).count()).toBe(0);
      expect(new URL(customer.url()).pathname).toBe(`/orders/${reference}`);
      await atService(customer, 'Pay');
      await heading(customer, 'Thank you, it is paid');
      expect(paymentsOf(reference)).toMatchObject([{ status: 'declined' }]);
      expect(paymentsOf(`${reference}-2`)).toMatchObject([{ status: 'paid' }]);
      expect(await customer.getByRole('button').count()).toBe(0);
    });

    test('makes one attempt of two tabs after a decline, and tells both that it is paid', async () => {
      await using watched = await openAsCustomer();
      const customer = watched.page;
      const reference = await orderDeclined(customer);
      const tab = await customer.context().newPage();
      await tab.goto(customer.url());
      await heading(tab, 'Your payment was declined');
      await Promise.all([customer, tab].map((page) => tryAgain(page).click()));
      for (const page of [customer, tab]) await heading(page, 'Waiting for your payment');
      expect(paymentsOf(`${reference}-2`)).toHaveLength(1);
      await service.setStatus(findPayment(service, `${reference}-2`), 'paid');
      for (const page of [customer, tab]) await heading(page, 'Thank you, it is paid');
      // A tab that has missed all of it.
      const body = new URLSearchParams({ reference });
      const late = await fetch(`${address}/orders`, { method: 'POST', body });
      expect(late.url).toBe(customer.url());
      expect(service.payments.list().filter(isOf(reference))).toHaveLength(2);
    });

    test('takes the older attempt when that is paid after all, and shows staff the second', async () => {
      await using watchedCustomer = await openAsCustomer();
      await using watchedStaff = await openAsStaff();
      const [customer, staff] = [watchedCustomer.page, watchedStaff.page];
      const reference = await orderDeclined(customer);
      await tryAgain(customer).click();
      await heading(customer, 'Waiting for your payment');
      const [first, second] = [reference, `${reference}-2`].map((one) => findPayment(service, one));
      await service.setStatus(first ?? '', 'paid');
      await heading(customer, 'Thank you, it is paid');
      await service.setStatus(second ?? '', 'paid');
      await openLists(staff);
      await lists(staff, 'Second payments')
        .getByText(`${second}, paid; ${reference} follows ${first}, paid`)
        .waitFor();
      await service.setStatus(second ?? '', 'refunded');
      await openLists(staff);
      await press(staff, 'Done', 'the customer has paid twice');
      await isEmpty(staff, 'Second payments');
      await customer.reload();
      await heading(customer, 'Thank you, it is paid');
      const followed = 'SELECT status, reference_number FROM orders WHERE reference_number = $1';
      expect(await schema.query(followed, [first])).toMatchObject([{ status: 'paid' }]);
    });

    test('shows a second payment to staff alone, and markup as text', async () => {
      await using watchedCustomer = await openAsCustomer();
      await using watchedStaff = await openAsStaff();
      const staff = watchedStaff.page;
      const reference = await order(watchedCustomer.page);
      const first = findPayment(service, reference);
      await service.setStatus(first, 'paid');
      await createPayment(service, reference); // by hand, at the service
      const second = paymentsOf(reference).find(({ referenceNumber }) => referenceNumber !== first);
      await service.setStatus(second?.referenceNumber ?? '', MARKUP);
      await openLists(staff);
      const text = await lists(staff, 'Second payments').innerText();
      expect(text).toContain(second?.referenceNumber);
      expect(text).toContain(MARKUP);
      expect(await staff.locator('#injected').count()).toBe(0);
      await press(staff, 'Done', 'the customer has paid twice');
      await isEmpty(staff, 'Second payments');

      const ask = async (password: string, options: RequestInit = {}) => {
        const authorization = `Basic ${Buffer.from(`staff:${password}`).toString('base64')}`;
        const headers = { authorization, ...options.headers };
        return fetch(`${address}/staff`, { ...options, headers });
      };
      expect((await fetch(`${address}/staff`)).status).toBe(401);
      expect((await fetch(`${address}/orders/${randomUUID()}`)).status).toBe(404);
      expect((await ask('a wrong token')).status).toBe(401);
      const shown = await ask(STAFF_TOKEN);
      expect(shown.status).toBe(200);
      const cookie = shown.headers.get('set-cookie')?.split(';')[0] ?? '';
      expect(cookie).not.toBe('');
      // As a form of another site: the browser adds the password and perhaps the cookie, but no page shows the token.
      const fields = { action: 'mark-not-created', confirmed: 'yes', item: '{}' };
      for (const [token, headers] of [
        [undefined, { cookie }],
        ['guessed', { cookie }],
        ['guessed', {}],
      ] as const) {
        const body = new URLSearchParams({ ...fields, ...(token && { token }) });
        expect((await ask(STAFF_TOKEN, { method: 'POST', body, headers })).status).toBe(403);
      }
    });
  });
});
