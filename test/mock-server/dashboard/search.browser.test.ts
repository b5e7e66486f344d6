import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { eventually, openDashboard, paymentRow } from './scene.js';

const references = (page: Page) =>
  eventually(() => page.locator('.payment-row .reference').allTextContents());

async function openWith(...all: readonly string[]) {
  const scene = await openDashboard();
  for (const merchantPaymentReference of all) {
    await createPayment(scene.server, { merchantPaymentReference, amount: 1, currency: 'EUR' });
  }
  await paymentRow(scene.page, all.at(-1) ?? '').waitFor();
  return scene;
}

describeInBrowser('the search of payments', () => {
  test('ranks references above a part of an identifier', async () => {
    await using scene = await openWith('order-1', 'order-10');
    const { page, server } = scene;
    // Newer than both, and found by its identifier.
    let found = '';
    while (!found.includes('1'))
      found = await createPayment(server, {
        merchantPaymentReference: 'other',
        amount: 1,
        currency: 'EUR',
      });
    await page.getByLabel('Search by reference or status').fill('1');
    await eventually(() => page.locator('.payment-row .reference').allTextContents()).toEqual(
      expect.arrayContaining(['other']),
    );
    await eventually(async () =>
      (await page.locator('.payment-row .reference').allTextContents()).slice(0, 2),
    ).toEqual(['order-10', 'order-1']);
    await page.getByLabel('Search by reference or status').fill('order-1');
    await references(page).toEqual(['order-1', 'order-10']);
  });

  test('opens the first match by Enter at once', async () => {
    await using scene = await openWith('order-1', 'order-2', 'order-3');
    const { page } = scene;
    await page.keyboard.press('/');
    await page.keyboard.type('order-2');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'order-2' }).waitFor();
  });

  test('leaves a space at the end as it was typed', async () => {
    await using scene = await openWith('order 1', 'other');
    const { page } = scene;
    await page.keyboard.press('/');
    await page.keyboard.type('order ');
    await page.getByText('1 payment, best match first').waitFor();
    await page.keyboard.type('1');
    await references(page).toEqual(['order 1']);
    expect(await page.getByLabel('Search by reference or status').inputValue()).toBe('order 1');
  });

  test('leads to the matches by ↓, and ends by Esc', async () => {
    await using scene = await openWith('order-1', 'other-2', 'other-3');
    const { page } = scene;
    const search = page.getByLabel('Search by reference or status');
    await page.keyboard.press('/');
    await page.keyboard.type('other');
    await page.keyboard.press('ArrowDown');
    await eventually(() =>
      paymentRow(page, 'other-3').evaluate((row) => row.matches(':focus')),
    ).toBe(true);
    await page.keyboard.press('ArrowDown');
    await eventually(() =>
      paymentRow(page, 'other-2').evaluate((row) => row.matches(':focus')),
    ).toBe(true);
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await references(page).toEqual(['other-3', 'other-2', 'order-1']);
    expect(await search.inputValue()).toBe('');
    await page.keyboard.press('Escape');
    expect(await search.evaluate((input) => input.matches(':focus'))).toBe(false);
  });
});
