import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { eventually, openDashboard, paymentRow, type Scene } from './scene.js';

async function createAll({ server, page }: Scene, ...references: string[]): Promise<void> {
  for (const merchantPaymentReference of references) {
    await createPayment(server, { merchantPaymentReference, amount: 1, currency: 'EUR' });
  }
  await paymentRow(page, references.at(-1) ?? '').waitFor();
}

const isFocused = (page: Page, reference: string) =>
  eventually(() => paymentRow(page, reference).evaluate((row) => row.matches(':focus'))).toBe(true);

describeInBrowser('keys in the dashboard', () => {
  test('j and k move through the list, from the open payment too', async () => {
    await using scene = await openDashboard();
    const { page } = scene;
    await createAll(scene, 'third', 'second', 'first');
    await page.keyboard.press('j');
    await isFocused(page, 'first');
    await page.keyboard.press('j');
    await isFocused(page, 'second');
    await page.keyboard.press('k');
    await isFocused(page, 'first');
    await page.keyboard.press('k');
    await isFocused(page, 'first');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'first' }).waitFor();
    await page.keyboard.press('j');
    await isFocused(page, 'second');
    await page.keyboard.press('j');
    await isFocused(page, 'third');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'third' }).waitFor();
  });

  test('r resends for the open payment, or for the focused row', async () => {
    await using endpoint = await startEndpoint(() => 500);
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await createAll(scene, 'order-1');
    await paymentRow(page, 'order-1').click();
    await page.getByRole('heading', { name: 'order-1' }).waitFor();
    await page.keyboard.press('r');
    await page.getByText('500 refused').waitFor();
    expect(server.deliveries).toHaveLength(1);
    await page.goto(`${server.url}/_mock/#/callbacks`);
    await page.locator('.callbacks > li').waitFor();
    await page.keyboard.press('j');
    await eventually(() => page.evaluate('document.activeElement.textContent')).toBe('order-1');
    await page.keyboard.press('r');
    await eventually(() => server.deliveries.length).toBe(2);
  });

  test('/ moves to the search, where the keys are letters', async () => {
    await using scene = await openDashboard();
    const { page } = scene;
    await createAll(scene, 'jar', 'other');
    await page.keyboard.press('/');
    await page.keyboard.type('j');
    await page.getByText('1 payment, best match first').waitFor();
    await eventually(() => page.getByLabel('Search by reference or status').inputValue()).toBe('j');
  });

  test('? lists the keys, which can be switched off', async () => {
    await using scene = await openDashboard();
    const { page } = scene;
    await createAll(scene, 'order-1');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await page.keyboard.press('?');
    await dialog.getByText('Next row').waitFor();
    await dialog.getByLabel('Use these keys').uncheck();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.keyboard.press('j');
    await page.keyboard.press('?');
    expect(await dialog.isVisible()).toBe(false);
    expect(await paymentRow(page, 'order-1').evaluate((row) => row.matches(':focus'))).toBe(false);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await dialog.getByLabel('Use these keys').check();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('j');
    await isFocused(page, 'order-1');
  });

  test('with Ctrl or Alt the keys are left to the browser', async () => {
    await using scene = await openDashboard();
    const { page } = scene;
    await createAll(scene, 'order-1');
    await page.keyboard.press('Control+j');
    await page.keyboard.press('Alt+j');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
  });
});
