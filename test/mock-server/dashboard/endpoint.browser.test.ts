import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { startMerchant } from '../merchant-server.js';
import { openDashboard, paymentRow } from './scene.js';

const signingSecret = 'whsec_of_the_endpoint_view';

describeInBrowser('the endpoint in the dashboard', () => {
  test('is checked, and passes', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      hash: '#/endpoint',
      server: { signingSecret, callbackUrl: merchant.url },
    });
    const { page } = scene;
    await page.getByRole('button', { name: 'Run the check' }).click();
    await page.getByText('No check failed. The check took').waitFor({ timeout: 50_000 });
    await page.getByText(/^✓ \d+ passed$/).click();
    await page.locator('.finding.good').first().waitFor();
    // The check belongs to the mock, so another page sees it too.
    await page.reload();
    await page.getByText('No check failed. The check took').waitFor();
  });

  test('is checked, and its faults are shown, the cause first, with remedies', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({
      hash: '#/endpoint',
      server: { signingSecret, callbackUrl: endpoint.url },
    });
    const { page } = scene;
    await page.getByRole('button', { name: 'Run the check' }).click();
    await page.getByText('Some checks failed.').waitFor({ timeout: 50_000 });
    await page.locator('.finding').first().getByText('look here first').waitFor();
  });

  test('is checked with the chosen meaning of its effect counts', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({
      hash: '#/endpoint',
      server: { signingSecret, callbackUrl: endpoint.url },
    });
    const { page } = scene;
    expect(await page.getByLabel('What it counts').count()).toBe(0);
    await page.getByLabel('Effect URL').fill(endpoint.url);
    await page.getByLabel('What it counts').selectOption('paid');
    const request = page.waitForRequest(
      (one) => one.method() === 'POST' && one.url().endsWith('/check'),
    );
    await page.getByRole('button', { name: 'Run the check' }).click();
    expect((await request).postDataJSON()).toEqual({
      countEffects: endpoint.url,
      effectCounts: 'paid',
    });
    await page.getByText('Some checks failed.').waitFor({ timeout: 50_000 });
  });

  test('has its check cancelled', async () => {
    await using endpoint = await startEndpoint(() => undefined);
    await using scene = await openDashboard({
      hash: '#/endpoint',
      server: { signingSecret, callbackUrl: endpoint.url },
    });
    const { page } = scene;
    await page.getByRole('button', { name: 'Run the check' }).click();
    await page.getByText('Checking…').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('was aborted').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  });

  test('has an invalid option refused with the reason', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({
      hash: '#/endpoint',
      server: { callbackUrl: endpoint.url },
      expectedErrors: /400 \(Bad Request\)/,
    });
    const { page } = scene;
    await page.getByLabel('Effect URL').fill('nowhere');
    await page.getByRole('button', { name: 'Run the check' }).click();
    await page.getByRole('alert').filter({ hasText: 'countEffects' }).waitFor();
    expect(endpoint.received).toEqual([]);
  });

  test('has an attempt diagnosed, with the secret of the endpoint', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using scene = await openDashboard({
      server: { signingSecret, callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await server.setStatus(await createPayment(server), 'paid');
    await paymentRow(page, 'order-1').click();
    await page.locator('.attempts .row-details > summary').click();
    await page.locator('summary', { hasText: 'Diagnose' }).click();
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.getByText('The callback was valid when it was sent.').waitFor();
    await page.getByLabel('Signing secret of your endpoint').fill(` ${signingSecret}`);
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.locator('.finding').getByText('secret-edge-space').waitFor();
  });

  test('has a callback that it received diagnosed', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using scene = await openDashboard({
      hash: '#/endpoint',
      server: { signingSecret, callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await server.setStatus(await createPayment(server), 'paid');
    const [received] = endpoint.received;
    const headers = Object.entries(received?.headers ?? {});
    await page
      .getByLabel('Headers, one per line')
      .fill(headers.map(([name, value]) => `${name}: ${value}`).join('\n'));
    await page.getByLabel('Body, byte for byte').fill(`${received?.rawBody}\n`);
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.locator('.finding').getByText('body-trailing-newline').waitFor();
  });
});
