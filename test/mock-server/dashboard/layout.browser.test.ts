import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { openDashboard, overflowOf, paymentRow, type Scene } from './scene.js';

const LONG = 'shop-2026-11-26-checkout-cart-000000017-customer-99120';

async function pay({ server }: Scene, reference: string, status = 'paid'): Promise<void> {
  const body = { merchantPaymentReference: reference, amount: 2500, currency: 'EUR' };
  await server.setStatus(await createPayment(server, body), status);
}

/** The texts of the elements whose content does not fit. */
const cutOff = (page: Page, selector: string) =>
  page
    .locator(selector)
    .evaluateAll((elements) =>
      elements
        .filter(
          ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
            scrollWidth > clientWidth || scrollHeight > clientHeight + 1,
        )
        .map((element) => element.textContent),
    );

const heightOf = async (page: Page, selector: string): Promise<number> =>
  (await page.locator(selector).boundingBox())?.height ?? Number.NaN;

describeInBrowser('the layout of the dashboard', () => {
  test('never cuts a reference in the lists of callbacks and requests', async () => {
    await using endpoint = await startEndpoint(() => 500);
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await pay(scene, LONG);
    await pay(scene, 'order-1');
    for (const width of [1920, 1280, 400]) {
      await page.setViewportSize({ width, height: 900 });
      for (const view of ['callbacks', 'requests']) {
        await page.goto(`${server.url}/_mock/#/${view}`);
        await page.locator(`.${view} .reference`, { hasText: LONG }).waitFor();
        expect(await cutOff(page, `.${view} .reference`), `${view}, ${width} px`).toEqual([]);
        expect(await overflowOf(page)).toBe(0);
      }
    }
  });

  test('gives a long reference two lines in the list of payments', async () => {
    await using scene = await openDashboard({
      context: { viewport: { width: 1280, height: 900 } },
    });
    const { page } = scene;
    await pay(scene, 'order-with-a-long-name-17');
    await paymentRow(page, 'order-with').waitFor();
    expect(await cutOff(page, '.payment-row .reference')).toEqual([]);
  });

  test('fits the usual statuses into their pills', async () => {
    await using scene = await openDashboard({
      context: { viewport: { width: 1280, height: 900 } },
    });
    const { page } = scene;
    for (const status of ['paid', 'refunded', 'authorised', 'charged back']) {
      await pay(scene, status, status);
    }
    await paymentRow(page, 'charged back').waitFor();
    expect(await cutOff(page, '.badge')).toEqual([]);
  });

  test('has a header of at most a fifth of the window at 200% zoom', async () => {
    await using endpoint = await startEndpoint(() => 500);
    await using scene = await openDashboard({
      // A window of 1280 × 800.
      context: { viewport: { width: 640, height: 400 } },
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    await pay(scene, 'order-1');
    await scene.page.locator('.attention li').waitFor();
    expect(await heightOf(scene.page, '.top')).toBeLessThanOrEqual(80);
  });

  test('has the actions in one line, and whole dots along the timeline', async () => {
    await using scene = await openDashboard({
      context: { viewport: { width: 1280, height: 900 } },
    });
    const { page } = scene;
    await pay(scene, 'order-1');
    await paymentRow(page, 'order-1').click();
    await page.locator('.timeline').waitFor();
    expect(await heightOf(page, '.actions')).toBeLessThanOrEqual(60);
    const dots = (await page.evaluate(`[...document.querySelectorAll('.entry')].map((entry) =>
      entry.getBoundingClientRect().left + parseFloat(getComputedStyle(entry, '::before').left))`)) as number[];
    const left = (await page.locator('.detail-pane').boundingBox())?.x ?? Number.NaN;
    for (const dot of dots) expect(dot).toBeGreaterThanOrEqual(left);
  });

  test('shows the form first while there is no payment, on a narrow page too', async () => {
    await using scene = await openDashboard({ context: { viewport: { width: 400, height: 800 } } });
    const { page } = scene;
    const topOf = async (text: string) =>
      (await page.getByText(text, { exact: true }).first().boundingBox())?.y ?? Number.NaN;
    expect(await topOf('Create payment')).toBeLessThan(await topOf('Create the first payment'));
    await pay(scene, 'order-1');
    await paymentRow(page, 'order-1').waitFor();
    expect(await topOf('Overview')).toBeLessThan(await topOf('Create payment'));
  });
});
