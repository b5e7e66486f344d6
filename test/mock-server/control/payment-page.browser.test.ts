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

  test('the customer returns before the callback', async () => {
    await using scene = await openPaymentPage();
    const { page, server, shop } = scene;
    server.faults.add({ on: 'callback', type: 'late-callback', delayMs: 3_600_000 });
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByText('Back in the shop').waitFor();
    expect(shop.received.map(({ method }) => method)).toEqual(['GET']);
  });

  test('axe finds nothing, and nothing scrolls sideways at 400 px', async () => {
    await using scene = await openPaymentPage({
      viewport: { width: 400, height: 800 },
      bypassCSP: true, // only for axe
    });
    const { page } = scene;
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string }[] };
    expect(violations.map(({ id }) => id)).toEqual([]);
    expect(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0);
  });
});
