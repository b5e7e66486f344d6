import { expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { eventually, openDashboard, paymentRow } from './scene.js';

const brokenConnections =
  /ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)/;

describeInBrowser('the dashboard’s connection', () => {
  test('a mock that is gone is reported, and its successor is shown without a reload', async () => {
    await using scene = await openDashboard({ expectedErrors: brokenConnections });
    const { page, server } = scene;
    await createPayment(server);
    await paymentRow(page, 'order-1').waitFor();
    const port = Number(new URL(server.url).port);
    await server.close();
    await page.getByRole('alert').filter({ hasText: 'The mock does not answer;' }).waitFor();
    await page.getByText('Reconnecting…', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Failed: The mock does not answer. Is it still running?').waitFor();

    await using successor = await startMockServer({ port });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('No payments yet.').waitFor();
    await createPayment(successor, {
      merchantPaymentReference: 'after-restart',
      amount: 1,
      currency: 'EUR',
    });
    await paymentRow(page, 'after-restart').waitFor();
    await page
      .getByRole('alert')
      .filter({ hasText: 'reconnecting' })
      .waitFor({ state: 'detached' });
  });

  test('a hidden page closes its connection, and is up to date when shown again', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    const show = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    await page.getByText('No payments yet.').waitFor();
    const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
    await show(true);
    await left;
    let calls = 0;
    page.on('request', () => {
      calls += 1;
    });
    await createPayment(server);
    expect(calls).toBe(0);
    await show(false);
    await paymentRow(page, 'order-1').waitFor();
  });

  test('a burst of a thousand events costs a handful of calls', async () => {
    await using scene = await openDashboard({ hasOwnClock: true });
    const { page, server } = scene;
    const referenceNumber = await createPayment(server);
    await paymentRow(page, 'order-1').click();
    await page.getByText('Created with status').waitFor();
    // On a busy machine a burst takes long, and the page may fetch ten times a second.
    await page.clock.pauseAt(Date.now() + 60_000);
    let calls = 0;
    page.on('request', () => {
      calls += 1;
    });
    // Two events each: the payment, and its delivery.
    const changes = Array.from({ length: 500 }, (_, index) => `status-${index}`);
    await Promise.all(changes.map((status) => server.setStatus(referenceNumber, status)));
    await page.clock.resume();
    await page.locator('.detail-head').getByText('status-499').waitFor();
    await page.getByText('Only the last 200 callbacks are shown.').waitFor();
    await eventually(() => page.locator('.delivery').count()).toBe(200);
    expect(calls).toBeLessThan(100);
  });

  test('while an answer is pending nothing is requested twice, whatever happens', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    const referenceNumber = await createPayment(server);
    await paymentRow(page, 'order-1').click();
    await page.getByText('Created with status').waitFor();
    let calls = 0;
    const firstCall = page.waitForRequest(`**/_mock/payments/${referenceNumber}`);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`**/_mock/payments/${referenceNumber}`, async (route) => {
      calls += 1;
      await released;
      await route.continue();
    });
    await server.setStatus(referenceNumber, 'status-0');
    await firstCall;
    for (let index = 1; index < 20; index += 1) {
      await server.setStatus(referenceNumber, `status-${index}`);
      await page.evaluate(
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
      );
    }
    await eventually(() => calls).toBe(1);
    release();
    await page.locator('.detail-head').getByText('status-19').waitFor();
    expect(calls).toBeLessThanOrEqual(2);
  });
});
