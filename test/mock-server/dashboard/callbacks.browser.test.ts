import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { MockServer } from '../../../src/mock-server/index.js';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { eventually, openDashboard, paymentRow } from './scene.js';

/** Creates a payment with that reference, and sets it to paid. */
async function pay(server: MockServer, reference: string): Promise<void> {
  const referenceNumber = await createPayment(server, {
    merchantPaymentReference: reference,
    amount: 1,
    currency: 'EUR',
  });
  await server.setStatus(referenceNumber, 'paid');
}

const rowsOf = (page: Page) => page.locator('.callbacks > li');

describeInBrowser('callbacks in the dashboard', () => {
  test('a failed one is visible in every view without a click', async () => {
    await using endpoint = await startEndpoint(() => 500);
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    await pay(server, 'order-1');
    await page.locator('.attention').getByText('HTTP 500').waitFor();
    await paymentRow(page, 'order-1').getByText('Callback failed:').waitFor();
    const link = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    await link.filter({ hasText: 'Callbacks1 failed' }).waitFor();
    await eventually(() => page.title()).toBe('(1 failed) Payments · Till');
    for (const view of ['Requests', 'Faults', 'Service']) {
      await link.filter({ hasText: view }).click();
      await page.getByRole('heading', { name: view, exact: true }).waitFor();
      await link.filter({ hasText: 'Callbacks1 failed' }).waitFor();
    }
  });

  test('are listed failures first, and filtered by group', async () => {
    await using endpoint = await startEndpoint((count) => (count === 2 ? 500 : 200));
    await using scene = await openDashboard({
      hash: '#/callbacks',
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await page.getByText('No callback yet').waitFor();
    for (const reference of ['one', 'two', 'three']) await pay(server, reference);
    await eventually(() => rowsOf(page).locator('.reference').allTextContents()).toEqual([
      'two',
      'three',
      'one',
    ]);
    const filters = page.getByRole('navigation', { name: 'Filter callbacks' });
    await eventually(() => filters.getByRole('link').allTextContents()).toEqual([
      'All 3',
      'Failed 1',
      'Waiting 0',
      'Not sent 0',
      'Done 2',
    ]);
    await filters.getByRole('link', { name: 'Done' }).click();
    await eventually(() => rowsOf(page).locator('.reference').allTextContents()).toEqual([
      'three',
      'one',
    ]);
    await filters.getByRole('link', { name: 'Failed' }).click();
    await eventually(() => rowsOf(page).locator('.reference').allTextContents()).toEqual(['two']);
    await rowsOf(page).getByText('HTTP 500').waitFor();
    await filters.getByRole('link', { name: 'Waiting' }).click();
    await page.getByText('No callbacks match.').waitFor();
    await filters.getByRole('link', { name: 'All' }).click();
    await page.getByLabel('Search by reference or status').fill('THR');
    await eventually(() => rowsOf(page).locator('.reference').allTextContents()).toEqual(['three']);
  });

  test('are resent from their row', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
    await using scene = await openDashboard({
      hash: '#/callbacks',
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await pay(server, 'order-1');
    await page.getByRole('button', { name: 'Resend order-1' }).click();
    await eventually(() => endpoint.received.length).toBe(2);
    await eventually(() => page.title()).toMatch(/^Callbacks/);
  });

  test('are edited and resent, with a new signature or the original one', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    await pay(server, 'order-1');
    await paymentRow(page, 'order-1').click();
    await page.getByText('Edit and resend').click();
    await page.getByLabel('Body to send').fill('{"edited":1.10}');
    await page.getByRole('button', { name: 'Send edited' }).click();
    await page.getByText('paid: acknowledged with HTTP 200.').waitFor();
    await page.getByText(', edited', { exact: true }).waitFor();
    await page.getByText('Sign the edited body').click();
    await page.getByRole('button', { name: 'Send edited' }).click();
    await page.getByText(', edited after signing').waitFor();
    await page.getByText('Your endpoint accepted a callback that it must refuse.').waitFor();
    expect(endpoint.received.slice(1).map(({ rawBody }) => rawBody.toString())).toEqual([
      '{"edited":1.10}',
      '{"edited":1.10}',
    ]);
  });

  test('have their body laid out, and the signed text as it is with its prefix marked', async () => {
    await using endpoint = await startEndpoint(() => (response) => {
      response.writeHead(200).end('{"amount":1.10,"list":[],"more":[1,{"deep":null}]}');
    });
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    await pay(server, 'order-1');
    await paymentRow(page, 'order-1').click();
    const body = page.locator('.attempts').getByRole('group', { name: 'Body', exact: true });
    const sent = endpoint.received[0]?.rawBody.toString() ?? '';
    expect(await body.textContent()).toBe(JSON.stringify(JSON.parse(sent), null, 2));
    // As written: 1.10 stays.
    expect(
      await page.getByRole('group', { name: 'Answer: HTTP 200', exact: true }).textContent(),
    ).toBe(`{
  "amount": 1.10,
  "list": [],
  "more": [
    1,
    {
      "deep": null
    }
  ]
}`);
    const signed = page.getByRole('group', { name: 'Signed text' });
    expect(await signed.textContent()).toBe(server.deliveries[0]?.signedString);
    expect(await signed.locator('mark').textContent()).toBe(`${server.deliveries[0]?.timestamp}.`);
  });
});
