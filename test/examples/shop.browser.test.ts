import type { Page } from 'playwright-core';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';
import { expect, test } from 'vitest';
import { describeInBrowser, openPage, type WatchedPage } from '../browser/browser.js';
import { type Example, startExample } from './example-process.js';
import { createPayment, environmentFor, findPayment, signingSecret } from './payment-scene.js';
import { createShopSchema, type ShopSchema } from './shop-schema.js';

const STAFF_TOKEN = 'the token of the tests';
const PHONE = { width: 400, height: 800 };

/** Two instances of the shop on one database: customers are at the first, callbacks go to the second. */
interface Scene extends AsyncDisposable {
  readonly service: MockServer;
  readonly schema: ShopSchema;
  readonly address: string;
  readonly page: Page;
  /** A click on "Pay", and the page to which it leads. */
  readonly order: () => Promise<string>;
  /** The staff page, as staff sees it. */
  readonly openStaffPage: () => Promise<WatchedPage>;
}

async function openShop(expectedErrors?: RegExp): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  const schema = await createShopSchema();
  const service = stack.use(await startMockServer({ signingSecret, retryScheduleMs: [] }));
  const env = { ...environmentFor(service), DATABASE_URL: schema.url, STAFF_TOKEN };
  const start = async (): Promise<Example> => stack.use(await startExample('shop/main.ts', env));
  const [{ url: address }, other] = await Promise.all([start(), start()]);
  service.callbackUrl = new URL('/callbacks/payments', other.url).href;
  const origins = [address];
  const { page } = stack.use(
    await openPage({ origins, context: { viewport: PHONE }, expectedErrors }),
  );
  return {
    service,
    schema,
    address,
    page,
    async order() {
      await page.goto(address);
      await page.getByRole('button', { name: 'Pay' }).click();
      await page.waitForURL('**/orders/*');
      return new URL(page.url()).pathname.split('/').at(-1) ?? '';
    },
    async openStaffPage() {
      const httpCredentials = { username: 'staff', password: STAFF_TOKEN };
      const staff = await openPage({ origins, context: { httpCredentials, viewport: PHONE } });
      await staff.page.goto(new URL('/staff', address).href);
      return staff;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();

const setPaid = (service: MockServer, reference: string) =>
  service.setStatus(findPayment(service, reference), 'paid');

async function overflow(page: Page): Promise<unknown> {
  return page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}

describeInBrowser('the shop', () => {
  test.skipIf(!process.env['DATABASE_URL'])(
    'shows the payment to a customer who is back before its callback, and to one who is back after',
    async () => {
      await using shop = await openShop();
      const { page, service } = shop;
      const early = await shop.order();
      await heading(page, 'Waiting for your payment');
      expect(await overflow(page)).toBe(0);
      await setPaid(service, early); // at the other instance
      await heading(page, 'Thank you, it is paid');

      const late = await shop.order();
      await heading(page, 'Waiting for your payment');
      const address = page.url();
      await page.goto('about:blank'); // as the payment page of the service
      await setPaid(service, late);
      await page.goto(address);
      await heading(page, 'Thank you, it is paid');
      expect(await page.getByRole('button').count()).toBe(0);
    },
  );
});
