import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { startMerchant } from '../merchant-server.js';
import { eventually, openDashboard, paymentRow, resend, type Scene } from './scene.js';

const signingSecret = 'whsec_of_the_dashboard';

/** Creates a payment, and opens it in the dashboard. */
async function openPayment({ server, page }: Scene, reference = 'order-1'): Promise<string> {
  const referenceNumber = await createPayment(server, {
    merchantPaymentReference: reference,
    amount: 1000,
    currency: 'EUR',
  });
  await paymentRow(page, reference).click();
  await page.getByRole('heading', { name: reference }).waitFor();
  return referenceNumber;
}

describeInBrowser('payments in the dashboard', () => {
  test('a payment is created, paid, called back and acknowledged without a reload', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      server: { signingSecret, callbackUrl: merchant.url },
    });
    const { page } = scene;
    await page.getByLabel('Merchant reference').fill('order-77');
    await page.getByLabel('Amount').fill('12.5');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'order-77' }).waitFor();
    await page.getByRole('button', { name: 'Set to paid' }).click();
    await page.getByText('paid: acknowledged with HTTP 200.').waitFor();
    await page.locator('.timeline').getByText('Acknowledged', { exact: true }).waitFor();
    expect(merchant.handled).toEqual(['paid']);
    expect(scene.server.payments.list()).toMatchObject([
      { merchantPaymentReference: 'order-77', amount: 12.5, currency: 'EUR', status: 'paid' },
    ]);
    await paymentRow(page, /order-77.*12\.5 EUR.*paid/).waitFor();
  });

  test('changes from elsewhere appear without a reload, and are announced to screen readers', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      server: { signingSecret, callbackUrl: merchant.url },
    });
    const referenceNumber = await openPayment(scene);
    await scene.server.setStatus(referenceNumber, 'refunded');
    await scene.page.locator('.timeline').getByText('200 acknowledged').waitFor();
    await scene.page
      .getByRole('status')
      .filter({ hasText: 'Callback refunded of order-1: acknowledged with HTTP 200' })
      .waitFor({ state: 'attached' });
  });

  test('any other status can be set', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      server: { signingSecret, callbackUrl: merchant.url },
    });
    await openPayment(scene);
    await scene.page.getByLabel('Any other status').fill('partially refunded');
    await scene.page.getByRole('button', { name: 'Set status' }).click();
    await scene.page.getByText('partially refunded: acknowledged with HTTP 200.').waitFor();
    expect(merchant.handled).toEqual(['partially refunded']);
  });

  test('a resend sends the current status again', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    await server.setStatus(await openPayment(scene), 'paid');
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByText('resent', { exact: true }).waitFor();
    await eventually(() => page.locator('.attempts .row-details').count()).toBe(2);
    expect(endpoint.received.map(({ rawBody }) => JSON.parse(rawBody.toString()).status)).toEqual([
      'paid',
      'paid',
    ]);
  });

  test('an earlier delivery is resent unchanged', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    const referenceNumber = await openPayment(scene);
    await server.setStatus(referenceNumber, 'paid');
    await server.setStatus(referenceNumber, 'refunded');
    const oldest = page.locator('.delivery').nth(1);
    await oldest.getByText('paid', { exact: true }).waitFor();
    await oldest.getByRole('button', { name: 'Resend this' }).click();
    await page.getByText('paid: acknowledged with HTTP 200.').waitFor();
    const [first, , last] = endpoint.received;
    expect(last?.rawBody).toEqual(first?.rawBody);
  });

  test('"twice at once" sends the same bytes twice', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    await openPayment(scene);
    await resend(scene.page, 'twice at once');
    await scene.page.getByText('Attempt 1, copy 1').waitFor();
    await eventually(() => scene.server.deliveries.length).toBe(2);
    const [first, second] = endpoint.received;
    expect(second?.rawBody).toEqual(first?.rawBody);
    expect(scene.server.deliveries.map(({ fault }) => fault)).toEqual(['duplicate', 'duplicate']);
  });

  test('a tampered callback is shown as refused with 401, or as accepted by mistake', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using careless = await startEndpoint();
    await using scene = await openDashboard({
      server: { signingSecret, callbackUrl: merchant.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await openPayment(scene);
    await resend(page, 'tampered-body');
    await page.getByText('401 refused').waitFor();
    await page.getByText('Your endpoint refused it, as it should.').waitFor();
    await page.getByText('Given up', { exact: true }).waitFor();
    expect(merchant.handled).toEqual([]);
    server.callbackUrl = careless.url;
    await resend(page, 'tampered-body');
    await page.getByText('Your endpoint accepted a callback that it must refuse.').waitFor();
  });

  test('every fault of the menu can be sent', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    const referenceNumber = await openPayment(scene);
    const menu = page.getByLabel('Resend the current status');
    const [, , ...types] = await menu
      .locator('option')
      .evaluateAll((options) => options.map((option) => option.getAttribute('value') ?? ''));
    expect(types).toHaveLength(13);
    for (const type of types.filter((each) => each !== 'reorder')) {
      await resend(page, type);
      await page.getByText(`fault: ${type}`).first().waitFor();
    }
    await resend(page, 'reorder');
    await page.getByText('Held', { exact: true }).waitFor();
    await server.setStatus(referenceNumber, 'paid');
    await page.getByText('fault: reorder').or(page.getByText('Status set to')).first().waitFor();
    expect(new Set(server.deliveries.map(({ fault }) => fault ?? 'none'))).toEqual(
      new Set([...types.filter((each) => each !== 'reorder'), 'none']),
    );
  });

  test('without a callback URL a warning is shown, where one can be set', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard();
    const { page, server } = scene;
    await openPayment(scene);
    await page.getByText('status changes send nothing.').waitFor();
    await page.getByRole('button', { name: 'Set to paid' }).click();
    await page.getByText('paid: No callback URL was set.').waitFor();
    await page.getByRole('textbox', { name: 'Callback URL' }).fill(endpoint.url);
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText('status changes send nothing.').waitFor({ state: 'detached' });
    expect(server.callbackUrl).toBe(endpoint.url);
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByText('200 acknowledged').waitFor();
  });

  test('a refused action shows the reason beside its button', async () => {
    await using scene = await openDashboard({ expectedErrors: /400 \(Bad Request\)/ });
    const { page, server } = scene;
    await page.getByLabel('Currency').fill('euro');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page
      .locator('.create')
      .getByRole('alert')
      .filter({ hasText: 'three capital letters' })
      .waitFor();
    expect(server.payments.list()).toEqual([]);
    await page.getByRole('textbox', { name: 'Callback URL' }).fill('ftp://nowhere');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'must be an http or https URL' }).waitFor();
  });

  test('the open payment stays open after a reload, and back leads to the list', async () => {
    await using scene = await openDashboard();
    const { page } = scene;
    const referenceNumber = await openPayment(scene);
    expect(page.url()).toContain(referenceNumber);
    await page.reload();
    await page.getByRole('heading', { name: 'order-1' }).waitFor();
    await eventually(() => page.title()).toBe('order-1 · Till');
    await page.goBack();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('typed text is kept when another client creates the first payment', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    await page.getByLabel('Merchant reference').fill('half-typed');
    await createPayment(server);
    await paymentRow(page, 'order-1').waitFor();
    expect(await page.getByLabel('Merchant reference').inputValue()).toBe('half-typed');
    expect(await page.getByLabel('Merchant reference').isVisible()).toBe(true);
  });

  test('a payment that is gone is reported missing', async () => {
    await using scene = await openDashboard({
      hash: '#/payments/no-such-number',
      expectedErrors: /404 \(Not Found\)/,
    });
    await scene.page.getByText('The mock has no payment no-such-number').waitFor();
  });

  test('of a long list the newest are shown, and the others found', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    for (let index = 1; index <= 210; index += 1) {
      await createPayment(server, {
        merchantPaymentReference: `order-${String(index).padStart(3, '0')}`,
        amount: index,
        currency: 'EUR',
      });
    }
    const rows = page.locator('.payment-row');
    await page.getByText('200 of 210 payments').waitFor();
    await page.getByText('Search to find the other 10.').waitFor();
    await eventually(() => rows.first().textContent()).toContain('order-210');
    await eventually(() => rows.last().textContent()).toContain('order-011');
    await eventually(async () => new Set(await rows.allTextContents()).size).toBe(200);

    const search = page.getByLabel('Search by reference or status');
    await search.fill('ORDER-00');
    await page.getByText('9 payments, best match first', { exact: true }).waitFor();
    await search.fill('nothing like it');
    await page.getByText('No payments match.').waitFor();
    await server.setStatus(server.payments.list()[0]?.referenceNumber ?? '', 'disputed');
    await search.fill('disputed');
    await page.getByText('1 payment, best match first', { exact: true }).waitFor();
    await eventually(() => rows.allTextContents()).toEqual([expect.stringContaining('order-001')]);
  });
});
