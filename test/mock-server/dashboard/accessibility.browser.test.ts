import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment, postPayment } from '../merchant-client.js';
import { reserveClosedPort } from '../merchant-endpoint.js';
import { startMerchant } from '../merchant-server.js';
import { eventually, inEachLook, openDashboard, overflowOf, paymentRow, resend } from './scene.js';

const signingSecret = 'whsec_of_the_dashboard';

const looks = [
  { name: 'light, 1280 px', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'dark, 1280 px', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: 'light, 400 px', colorScheme: 'light', viewport: { width: 400, height: 800 } },
  { name: 'dark, 400 px', colorScheme: 'dark', viewport: { width: 400, height: 800 } },
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

describeInBrowser('accessibility of the dashboard', () => {
  test('axe finds nothing in any view or look, and none scrolls sideways', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      server: { signingSecret },
      // Only for axe, which is injected into the page.
      context: { viewport: looks[0].viewport, bypassCSP: true },
      expectedErrors: /ERR_/,
    });
    const { page, server } = scene;
    await page.evaluate(axe.source);
    const check = (view: string) =>
      inEachLook(page, looks, async ({ name }) => {
        expect(await findViolations(page), `${view}, ${name}`).toEqual([]);
        expect(await overflowOf(page), `${view}, ${name}`).toBe(0);
      });
    await page.getByText('Create the first payment').waitFor();
    await check('empty');

    server.callbackUrl = merchant.url;
    const referenceNumber = await createPayment(server);
    await paymentRow(page, 'order-1').waitFor();
    await check('list');

    await paymentRow(page, 'order-1').click();
    await server.setStatus(referenceNumber, 'paid');
    await resend(page, 'tampered-body');
    await page.getByText('refused it, as it should').waitFor();
    for (const summary of await page.locator('.row-details:not([open]) > summary').all()) {
      await summary.click();
    }
    for (const summary of await page.locator('.tool > summary').all()) await summary.click();
    await check('detail');

    await page.keyboard.press('Escape');
    server.callbackUrl = `http://127.0.0.1:${await reserveClosedPort()}/`;
    await server.setStatus(referenceNumber, 'refunded');
    await page.locator('.attention li').waitFor();
    await check('a failure');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await check('shortcuts');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /^Callbacks/ }).click();
    await page.locator('.callbacks > li').nth(2).waitFor();
    await check('callbacks');

    await page.getByRole('link', { name: 'Faults' }).click();
    server.faults.add({ on: 'request', type: 'server-error', status: 503 });
    server.faults.add({ on: 'callback', type: 'drop', match: { status: 'refunded' } });
    await page.locator('.fault').nth(1).waitFor();
    await check('faults');

    await page.getByRole('link', { name: 'Requests' }).click();
    await postPayment(server);
    await page.getByText('HTTP 503').waitFor();
    for (const summary of await page.locator('.rows .row-details > summary').all())
      await summary.click();
    await check('requests');

    server.faults.add({ on: 'request', type: 'lost-answer' });
    await postPayment(server).catch(() => undefined);
    // The list is held, as the focus is in it.
    await page.getByRole('button', { name: '1 new request' }).click();
    await page.getByText('withheld: your code did not get this').waitFor();
    await check('a lost answer');
    await page.getByRole('link', { name: 'Payments' }).click();
    await page.getByText('Second payments for one reference').waitFor();
    await check('what failed');
    await paymentRow(page, 'second').click();
    await page.locator('.others').waitFor();
    for (const summary of await page.locator('.timeline .row-details > summary').all()) {
      await summary.click();
    }
    await check('a second payment');

    await page.getByRole('link', { name: 'Service' }).click();
    await page.getByRole('heading', { name: 'Clock' }).waitFor();
    await check('service');

    await server.close();
    await page.getByText('The mock does not answer;').waitFor();
    await check('error');
  });

  test('a payment can be created, paid and closed with the keyboard', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      server: { signingSecret, callbackUrl: merchant.url },
    });
    const { page } = scene;
    const { keyboard } = page;
    await page.getByText('No payments yet.').waitFor();
    await keyboard.press('Tab');
    await eventually(() => focused(page)).toBe('Skip to content');
    await keyboard.press('Enter');
    await tabTo(page, 'Merchant reference');
    await keyboard.press('Control+a');
    await keyboard.type('by-keyboard');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'by-keyboard' }).waitFor();
    await tabTo(page, 'Set to paid');
    await keyboard.press('Enter');
    await page.getByText('paid: acknowledged with HTTP 200.').waitFor();
    await eventually(() => focused(page)).toBe('Set to paid');
    await page.getByText('Signed text').waitFor();
    await tabTo(page, 'Attempt 1');
    await keyboard.press('Enter');
    await page.getByText('Signed text').waitFor({ state: 'detached' });
    await keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await eventually(() => focused(page)).toContain('by-keyboard');
    expect(merchant.handled).toEqual(['paid']);
  });

  test('the arrow keys move through the list, and the focus is visible', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    for (const merchantPaymentReference of ['first', 'second', 'third']) {
      await createPayment(server, { merchantPaymentReference, amount: 1, currency: 'EUR' });
    }
    await paymentRow(page, 'third').waitFor();
    await tabTo(page, 'third');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await eventually(() => focused(page)).toContain('first');
    await page.keyboard.press('ArrowUp');
    await eventually(() => focused(page)).toContain('second');
    await eventually(() =>
      page.evaluate('getComputedStyle(document.activeElement).outlineStyle'),
    ).toBe('solid');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'second' }).waitFor();
    await eventually(() => page.evaluate('document.activeElement.className')).toBe('detail-pane');
  });

  test('on a narrow page a payment replaces the list until it is closed', async () => {
    await using scene = await openDashboard({ context: { viewport: { width: 400, height: 800 } } });
    const { page, server } = scene;
    await createPayment(server);
    await paymentRow(page, 'order-1').click();
    await page.getByRole('heading', { name: 'order-1' }).waitFor();
    await page.getByLabel('Search by reference or status').waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'All payments' }).click();
    await page.getByLabel('Search by reference or status').waitFor();
    await eventually(() => focused(page)).toContain('order-1');
  });
});

/** Returns the label of the focused element, or else its text. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (element === document.body) return 'nothing';
  return element?.labels?.[0]?.textContent ?? element?.textContent ?? '';
})()`;

const focused = async (page: Page) => String(await page.evaluate(FOCUSED)).trim();

async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    const { length } = name;
    if ((await focused(page)).slice(0, length) === name) return;
  }
  throw new Error(`${name} was not reached within 60 steps of the Tab key`);
}
