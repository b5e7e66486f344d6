import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { eventually, openDashboard, paymentRow, type Scene } from './scene.js';

const create = ({ server }: Scene, reference: string) =>
  createPayment(server, { merchantPaymentReference: reference, amount: 1, currency: 'EUR' });

const topOf = (page: Page, reference: string) =>
  paymentRow(page, reference).evaluate((row) => row.getBoundingClientRect().top);

describeInBrowser('the list of payments', () => {
  test('shows new ones at the top while no one reads the list', async () => {
    await using scene = await openDashboard();
    for (const reference of ['first', 'second']) await create(scene, reference);
    await eventually(() => scene.page.locator('.payment-row .reference').allTextContents()).toEqual(
      ['second', 'first'],
    );
  });

  test('keeps its place while a payment is open, and shows new ones on request', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    const referenceNumber = await create(scene, 'chosen');
    await paymentRow(page, 'chosen').click();
    await page.mouse.move(0, 0);
    const before = await topOf(page, 'chosen');
    for (let index = 0; index < 60; index += 1) await create(scene, `later-${index}`);
    await page.getByRole('button', { name: '60 new payments' }).waitFor();
    expect(await topOf(page, 'chosen')).toBe(before);
    expect(await page.locator('.payment-row').count()).toBe(1);
    // Far from the newest, yet up to date.
    await server.setStatus(referenceNumber, 'refunded');
    await paymentRow(page, 'chosen').getByText('refunded').waitFor();
    await page.getByRole('button', { name: '60 new payments' }).click();
    await paymentRow(page, 'later-59').waitFor();
    await page.getByRole('button', { name: 'new payments' }).waitFor({ state: 'detached' });
    await create(scene, 'last');
    await page.getByRole('button', { name: '1 new payment' }).waitFor();
  });

  test('keeps its place while it is scrolled, pointed at, or used by keyboard', async () => {
    await using scene = await openDashboard();
    const { page } = scene;
    for (let index = 0; index < 60; index += 1) await create(scene, `early-${index}-`);
    await paymentRow(page, 'early-59-').waitFor();
    const list = page.locator('.held-list');
    await list.evaluate((element) => element.scrollTo(0, 360));
    const before = await topOf(page, 'early-45-');
    await create(scene, 'while-scrolled');
    await page.getByRole('button', { name: '1 new payment' }).waitFor();
    expect(await topOf(page, 'early-45-')).toBe(before);
    await list.evaluate((element) => element.scrollTo(0, 0));
    await paymentRow(page, 'while-scrolled').waitFor();

    await paymentRow(page, 'early-59-').hover();
    await create(scene, 'while-pointed-at');
    await page.getByRole('button', { name: '1 new payment' }).waitFor();
    await page.mouse.move(0, 0);
    await paymentRow(page, 'while-pointed-at').waitFor();

    await paymentRow(page, 'early-59-').focus();
    await create(scene, 'while-focused');
    await page.getByRole('button', { name: '1 new payment' }).waitFor();
  });

  test('has rows of 36 px', async () => {
    await using scene = await openDashboard();
    for (const reference of ['one', 'two', 'three']) await create(scene, reference);
    await paymentRow(scene.page, 'three').waitFor();
    const heights = await scene.page
      .locator('.payments li')
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    expect(heights).toEqual([36, 36, 36]);
  });
});

describeInBrowser('the page', () => {
  test.each([
    [1920, 2],
    [1280, 2],
    [400, 1],
  ])('of %i px has %i columns with a payment open', async (width, count) => {
    await using scene = await openDashboard({ context: { viewport: { width, height: 900 } } });
    const { page } = scene;
    await create(scene, 'order-1');
    await paymentRow(page, 'order-1').click();
    await page.getByRole('heading', { name: 'order-1' }).waitFor();
    const lefts = await page
      .locator('.split > *')
      .evaluateAll((panes) =>
        panes.flatMap((pane) => (pane.checkVisibility() ? pane.getBoundingClientRect().left : [])),
      );
    expect(new Set(lefts).size).toBe(count);
    expect(lefts).toHaveLength(count);
  });

  test('shows each kind of status with a colour, a sign and its word', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    const statuses = ['paid', 'refunded', 'failed', 'pending', 'authorised', 'expired', 'zzz'];
    for (const status of statuses) await server.setStatus(await create(scene, status), status);
    const badges = page.locator('.payment-row .badge');
    await eventually(() => badges.allTextContents()).toEqual([
      '◇ zzz',
      '∅ expired',
      '○ authorised',
      '◔ pending',
      '✕ failed',
      '↩ refunded',
      '✓ paid',
    ]);
    const colors = (await page.evaluate(
      "[...document.querySelectorAll('.payment-row .badge')].map((one) => getComputedStyle(one).color)",
    )) as string[];
    // Statuses without money have the colour of unknown ones.
    expect(new Set(colors).size).toBe(6);
  });

  test('shows that the clock was moved', async () => {
    await using scene = await openDashboard();
    const { page } = scene;
    const moved = page.getByRole('link', { name: 'ahead' });
    expect(await moved.count()).toBe(0);
    await page.goto(`${scene.server.url}/_mock/#/service`);
    await page.getByRole('button', { name: 'Advance 1 h' }).click();
    await moved.getByText(/^1 h( 1 s)? ahead$/).waitFor();
  });

  test('resets the mock after a confirmation', async () => {
    await using scene = await openDashboard({ hash: '#/service' });
    const { page, server } = scene;
    await create(scene, 'order-1');
    page.once('dialog', (dialog) => void dialog.dismiss());
    await page.getByRole('button', { name: 'Reset the mock' }).click();
    expect(server.payments.list()).toHaveLength(1);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Reset the mock' }).click();
    await page.getByText('Everything was deleted').waitFor();
    expect(server.payments.list()).toEqual([]);
  });
});
