import path from 'node:path';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { reserveClosedPort } from '../merchant-endpoint.js';
import { startMerchant } from '../merchant-server.js';
import { inEachLook, openDashboard, overflowOf, paymentRow, resend } from './scene.js';

const folder = process.env['TEST_ARTIFACTS'] ?? 'test-artifacts';

const SIGNING_SECRET = 'whsec_of_the_screenshots';

const looks = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'light-1920', colorScheme: 'light', viewport: { width: 1920, height: 1080 } },
  { name: 'dark-1920', colorScheme: 'dark', viewport: { width: 1920, height: 1080 } },
  { name: 'light-400', colorScheme: 'light', viewport: { width: 400, height: 800 } },
  { name: 'dark-400', colorScheme: 'dark', viewport: { width: 400, height: 800 } },
] as const;

describeInBrowser('screenshots for people to look at', () => {
  test('each view, in each look', async () => {
    await using merchant = await startMerchant(SIGNING_SECRET);
    await using scene = await openDashboard({
      server: { signingSecret: SIGNING_SECRET, seed: 7 },
      context: { viewport: looks[0].viewport },
    });
    const { page, server } = scene;
    const shoot = (view: string, { height }: { height?: number } = {}) =>
      inEachLook(page, looks, async ({ name, viewport: { width } }) => {
        await page.screenshot({
          path: path.join(folder, `dashboard-${view}-${name}.png`),
          ...(height === undefined ? { fullPage: true } : { clip: { x: 0, y: 0, width, height } }),
        });
        expect(await overflowOf(page), `${view}, ${name}`).toBe(0);
      });

    await page.getByRole('heading', { name: 'Create the first payment' }).waitFor();
    await shoot('empty');

    server.callbackUrl = merchant.url;
    for (const [index, status] of ['paid', 'refunded', '', 'paid', 'expired', ''].entries()) {
      const referenceNumber = await createPayment(server, {
        merchantPaymentReference: `order-${1001 + index}`,
        amount: 2500 + index * 175,
        currency: 'EUR',
      });
      if (status !== '') await server.setStatus(referenceNumber, status);
    }
    const merchantUrl = server.callbackUrl;
    server.callbackUrl = `http://127.0.0.1:${await reserveClosedPort()}/callbacks`;
    for (const index of [0, 3]) {
      await server.setStatus(server.payments.list()[index]?.referenceNumber ?? '', 'refunded');
    }
    server.callbackUrl = merchantUrl;
    await page.locator('.attention li').nth(1).waitFor();
    // Shown in the guide (docs/images).
    await shoot('list', { height: 680 });

    await paymentRow(page, /order-1006/).click();
    await page.getByRole('button', { name: 'Set to paid' }).click();
    await page.getByText('paid: acknowledged with HTTP 200.').waitFor();
    await resend(page, 'twice at once');
    await page.getByText('copy 1').waitFor();
    await resend(page, 'tampered-body');
    await page.getByText('refused it, as it should').waitFor();
    await shoot('detail');
    // So is this, from the timeline on.
    await page.getByRole('heading', { name: 'Timeline' }).scrollIntoViewIfNeeded();
    await page.screenshot({ path: path.join(folder, 'dashboard-guide-light.png') });

    await page.goto(`${server.url}/_mock/#/faults`);
    server.faults.add({ on: 'request', type: 'server-error', status: 503, times: 2 });
    server.faults.add({
      on: 'callback',
      type: 'stale-timestamp',
      times: Number.POSITIVE_INFINITY,
      match: { merchantPaymentReference: 'order-1001' },
    });
    await page.getByText('until cleared', { exact: true }).waitFor();
    await shoot('faults');

    await page.goto(`${server.url}/_mock/#/callbacks`);
    await page.locator('.callbacks > li').nth(6).waitFor();
    await shoot('callbacks');

    await page.goto(`${server.url}/_mock/#/requests`);
    await page.locator('.requests summary').first().click();
    await shoot('requests');

    await page.goto(`${server.url}/_mock/#/service`);
    await page.getByRole('heading', { name: 'Clock', exact: true }).waitFor();
    await shoot('service');
  });
});
