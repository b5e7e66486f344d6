import { expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment, order } from '../merchant-client.js';
import { line, openDashboard } from './scene.js';

const brokenConnections =
  /ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)/;

describeInBrowser('the dashboard’s connection', () => {
  test('a mock that is gone is reported, and its successor is shown without a reload', async () => {
    await using scene = await openDashboard({ expectedErrors: brokenConnections });
    const { page, server } = scene;
    await createPayment(server);
    await line(page, 'order-1').waitFor();
    const port = Number(new URL(server.url).port);
    await server.close();
    await page.getByRole('alert').filter({ hasText: 'The mock does not answer;' }).waitFor();
    await page.getByText('Reconnecting…', { exact: true }).waitFor();

    await using successor = await startMockServer({ port });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('Nothing has happened yet.').waitFor();
    await createPayment(successor, { ...order, merchantPaymentReference: 'after-restart' });
    await line(page, 'after-restart').waitFor();
  });

  test('a hidden page closes its connection, and is up to date when shown again', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    const show = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    await page.getByText('Nothing has happened yet.').waitFor();
    const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
    await show(true);
    await left;
    await createPayment(server);
    expect(await page.locator('.line').count()).toBe(0);
    await show(false);
    await line(page, 'order-1').waitFor();
  });
});
