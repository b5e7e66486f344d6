import { test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { openDashboard, paymentRow } from './scene.js';

const signingSecret = 'whsec_of_the_diagnosis';

describeInBrowser('the diagnosis in the dashboard', () => {
  test('takes an attempt as it was sent, with the secret of the endpoint', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using scene = await openDashboard({
      server: { signingSecret, callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await server.setStatus(await createPayment(server), 'paid');
    await paymentRow(page, 'order-1').click();
    await page.locator('summary', { hasText: 'Diagnose' }).click();
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.getByText('The callback was valid when it was sent.').waitFor();
    await page.getByLabel('Signing secret of your endpoint').fill(` ${signingSecret}`);
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.locator('.finding').getByText('secret-edge-space').waitFor();
  });
});
