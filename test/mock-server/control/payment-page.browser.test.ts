import axe from 'axe-core';
import { expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { describeInBrowser, openPage } from '../../browser/browser.js';
import { createPayment, order } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';

const SHOP = `<!doctype html><link rel="icon" href="data:,"><title>Shop</title>Back in the shop`;

async function openPaymentPage(context = {}) {
  // Another origin, as a shop's server is.
  const shop = await startEndpoint((_count, { method }) => (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(method === 'GET' ? SHOP : '');
  });
  const server = await startMockServer({ callbackUrl: shop.url, paymentPage: true });
  const returnUrl = shop.url.replace('/callbacks/payments', '/thanks');
  await createPayment(server, { ...order, returnUrl });
  const origins = [`${server.url}/_mock/pay/`, returnUrl];
  const watched = await openPage({ origins, context });
  await watched.page.goto(`${server.url}/_mock/pay/${order.merchantPaymentReference}`);
  return {
    page: watched.page,
    server,
    shop,
    async [Symbol.asyncDispose]() {
      try {
        await watched[Symbol.asyncDispose]();
      } finally {
        await server.close();
        await shop[Symbol.asyncDispose]();
      }
    },
  };
}

describeInBrowser('the page to pay on', () => {
  test.each([true, false])(
    'pays, and sends the customer back after the callback; with scripts: %s',
    async (javaScriptEnabled) => {
      await using scene = await openPaymentPage({ javaScriptEnabled });
      const { page, server, shop } = scene;
      await page.getByRole('button', { name: 'Pay', exact: true }).click();
      await page.getByText('Back in the shop').waitFor();
      expect(shop.received.map(({ method }) => method)).toEqual(['POST', 'GET']);
      expect(server.payments.list()).toMatchObject([{ status: 'paid' }]);
    },
  );

  test('shows the amount, one Pay, and the ways of tests below; after it no second Pay', async () => {
    await using scene = await openPaymentPage();
    const { page, server } = scene;
    const pay = page.getByRole('main').getByRole('button');
    expect(await pay.allInnerTexts()).toEqual(['Pay']);
    const tests = page.getByRole('region', { name: 'For tests' }).getByRole('button');
    expect(await tests.allInnerTexts()).toEqual(['Decline', 'Leave without paying', 'Pay twice']);
    expect(await page.locator('.amount').innerText()).toBe('1000 EUR');
    await server.pay('order-1');
    await page.reload();
    await page.getByText('Thank you, it is paid').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await page.getByText('Back in the shop').waitFor();
  });

  test.each([
    [1440, 'light'],
    [390, 'dark'],
  ] as const)(
    'axe finds nothing, and nothing scrolls sideways: %i px, %s',
    async (width, colorScheme) => {
      await using scene = await openPaymentPage({
        viewport: { width, height: 844 },
        colorScheme,
        bypassCSP: true, // only for axe
      });
      const { page } = scene;
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string }[] };
      expect(violations.map(({ id }) => id)).toEqual([]);
      expect(
        await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      ).toBeLessThanOrEqual(0);
    },
  );
});
