import path from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment, order, postPayment } from '../merchant-client.js';
import { startMerchant } from '../merchant-server.js';
import { inEachLook, line, openDashboard, overflowOf } from './scene.js';

const folder = process.env['TEST_ARTIFACTS'] ?? 'test-artifacts';
const signingSecret = 'whsec_of_the_dashboard';

const looks = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { name: 'light-390', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: 'dark-390', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const;

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

async function findViolations(page: Page): Promise<string[]> {
  const { violations } = (await page.evaluate('axe.run()')) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

/** Where each kind of content begins, of all lines. */
const edgesOf = (page: Page) =>
  page.evaluate(`['time', '.what', '.order', '.answer', '.status'].map((name) => {
    const shown = [...document.querySelectorAll('.line > ' + name)].filter((one) => one.offsetParent);
    return new Set(shown.map((one) => Math.round(one.getBoundingClientRect().left))).size;
  })`);

describeInBrowser('the dashboard in each look', () => {
  test('axe finds nothing, nothing scrolls sideways, and each kind of content has its column', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      server: { signingSecret, seed: 7, callbackUrl: merchant.url },
      // Only for axe, which is injected into the page.
      context: { viewport: looks[0].viewport, bypassCSP: true },
    });
    const { page, server } = scene;
    await page.evaluate(axe.source);
    const check = (view: string) =>
      inEachLook(page, looks, async ({ name, viewport }) => {
        expect(await findViolations(page), `${view}, ${name}`).toEqual([]);
        expect(await overflowOf(page), `${view}, ${name}`).toBe(0);
        // Some are shown in the guide (docs/images).
        const clip = { x: 0, y: 0, ...viewport, height: Math.min(viewport.height, 700) };
        await page.screenshot({ path: path.join(folder, `dashboard-${view}-${name}.png`), clip });
      });
    await page.getByText('Nothing has happened yet.').waitFor();
    await check('empty');

    for (const [index, status] of ['paid', 'refunded', '', 'paid', 'expired', ''].entries()) {
      const payment = { ...order, merchantPaymentReference: `order-${1001 + index}` };
      const referenceNumber = await createPayment(server, {
        ...payment,
        amount: 2500 + index * 175,
      });
      if (status !== '') await server.setStatus(referenceNumber, status);
    }
    await postPayment(server, { ...order, merchantPaymentReference: 'order-1007', amount: 'x' });
    server.faults.add({ on: 'request', type: 'lost-answer' });
    await postPayment(server, { ...order, merchantPaymentReference: 'order-1008' }).catch(() => 0);
    server.faults.add({ on: 'callback', type: 'wrong-secret' });
    await server.pay('order-1006');
    await createPayment(server, { ...order, merchantPaymentReference: 'order-1001' });
    await line(page, 'a second payment of this order').waitFor();
    await check('stream');
    await inEachLook(page, looks, async ({ name }) => {
      expect(await edgesOf(page), name).toEqual([1, 1, 1, 1, 1]);
    });

    await line(page, 'fault wrong-secret').click();
    await page.getByText('Your endpoint was sent').waitFor();
    await page.getByText('Edit and resend').click();
    await check('payment');

    for (const panel of ['Create payment', 'Faults', 'Settings']) {
      await page.getByRole('button', { name: panel }).click();
      await check(panel.toLowerCase().replace(' ', '-'));
    }
  });

  test.each([
    ['a right-to-left override', 'order \u202e gnp.exe'],
    ['line breaks and control characters', 'order\n\n\n\u0007\u001b[2J\t\u0000'],
    ['ten thousand letters without a space', 'x'.repeat(10_000)],
    ['a hundred marks on one letter', `order a${'\u0301'.repeat(100)}`],
  ])('%s in a reference does not break the layout at 390 px', async (_, reference) => {
    await using scene = await openDashboard({ context: { viewport: looks[2].viewport } });
    const { page, server } = scene;
    await createPayment(server, { ...order, merchantPaymentReference: reference });
    const row = page.locator('.line');
    await row.waitFor();
    expect(await overflowOf(page)).toBe(0);
    expect((await row.boundingBox())?.height).toBeLessThan(120);
    expect(await row.locator('.price').innerText()).toBe('1000 EUR');
    await row.click();
    await page.locator('.story > li').first().waitFor();
    expect(await overflowOf(page)).toBe(0);
  });
});
