import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { eventually, openDashboard, paymentRow, type Scene } from './scene.js';

async function create({ page }: Scene, how: string): Promise<void> {
  await page.getByLabel('How').selectOption(how);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
}

describeInBrowser('a payment created from the page', () => {
  test('directly sends no request and passes the faults by', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    server.faults.add({ on: 'request', type: 'hang' });
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'order-1001' }).waitFor();
    expect(server.requests).toEqual([]);
    expect(server.faults.pending()).toHaveLength(1);
  });

  test('as my client would goes through the API and the faults that are pending', async () => {
    await using scene = await openDashboard({ expectedErrors: /503 \(Service Unavailable\)/ });
    const { page, server } = scene;
    server.faults.add({ on: 'request', type: 'server-error', status: 503 });
    await create(scene, 'as my client would');
    await page.getByText('No payment was created. Your client would get HTTP 503').waitFor();
    expect(server.payments.list()).toEqual([]);
    await create(scene, 'as my client would');
    await page.getByRole('heading', { name: 'order-1001' }).waitFor();
    await page.locator('.timeline').getByText('HTTP 503').waitFor();
    await page.locator('.timeline').getByText('HTTP 201').waitFor();
    expect(server.requests.map(({ status }) => status)).toEqual([503, 201]);
  });

  test('with lost-answer shows the payment whose answer my client would not get', async () => {
    await using scene = await openDashboard({ expectedErrors: /504 \(Gateway Timeout\)/ });
    const { page, server } = scene;
    await create(scene, 'lost-answer');
    await page.getByRole('heading', { name: 'order-1001' }).waitFor();
    await page
      .locator('.timeline > li')
      .last()
      .getByText('withheld: your code did not get this')
      .waitFor();
    // A browser that sees a kept connection break sends the request again.
    expect(server.payments.list()).toHaveLength(1);
    expect(server.faults.pending()).toEqual([]);
  });

  test('says what each fault does before it is sent', async () => {
    await using scene = await openDashboard();
    await scene.page.getByLabel('How').selectOption('reset-before-headers');
    await scene.page.getByText('Resets the connection. No payment is created.').waitFor();
  });

  test('has a page to pay on', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Page to pay on' }).click();
    const customer = await opened;
    await customer.getByRole('button', { name: 'Pay', exact: true }).click();
    await eventually(() => server.payments.list()[0]?.status).toBe('paid');
    await paymentRow(page, 'paid').waitFor();
  });
});
