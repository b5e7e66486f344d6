import { expect, test } from 'vitest';
import { createManualClock } from '../../../src/mock-server/index.js';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { eventually, openDashboard, paymentRow } from './scene.js';

describeInBrowser('the clock in the dashboard', () => {
  test('a retry is counted down, and made when the clock is advanced to it', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 503 : 200));
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [3_600_000] },
    });
    const { page, server } = scene;
    await createPayment(server);
    await paymentRow(page, 'order-1').click();
    await page.getByRole('button', { name: 'Set to paid' }).click();
    await page.getByText('503 refused').waitFor();
    await page.getByText(/^Next attempt in (1 h|59 min 5\d s)\.$/).waitFor();
    await page.getByRole('button', { name: 'Advance the clock to it' }).click();
    await page.locator('.attempts').getByText('Attempt 2').waitFor();
    await page.locator('.delivery').getByText('Acknowledged', { exact: true }).waitFor();
    expect(endpoint.received).toHaveLength(2);
  });

  test.each([
    ['Advance 1 min', 60_000],
    ['Advance 1 h', 3_600_000],
    ['Advance 1 day', 86_400_000],
  ])('%s moves it by as much', async (name, ms) => {
    const clock = createManualClock();
    await using scene = await openDashboard({ server: { clock }, hash: '#/service' });
    const before = clock.now();
    await scene.page.getByRole('button', { name, exact: true }).click();
    await scene.page.getByText(/^Advanced by .*\. Everything due has been done\.$/).waitFor();
    expect(clock.now() - before).toBe(ms);
  });

  test('a clock that stands still is shown as such', async () => {
    // In the browser's time zone, which is that of this process.
    const clock = createManualClock({ now: new Date(2031, 4, 6, 7, 8, 9).getTime() });
    await using scene = await openDashboard({
      server: { clock },
      hash: '#/service',
      hasOwnClock: true,
    });
    const { page } = scene;
    await page.getByText('May 6, 2031, 07:08:09').waitFor();
    await page.clock.fastForward(60_000);
    await page.getByText('May 6, 2031, 07:08:09').waitFor();
    await clock.advance(1_000);
    scene.server.callbackUrl = 'http://127.0.0.1:1/';
    await page.getByText('May 6, 2031, 07:08:10').waitFor();
  });

  test('a clock that runs is shown running', async () => {
    await using scene = await openDashboard({ hash: '#/service', hasOwnClock: true });
    const { page } = scene;
    await page.locator('.now').waitFor();
    // Another answer would set the page's clock back to the mock's.
    await page.route('**/_mock/state', () => {});
    const before = Date.now();
    await page.clock.fastForward(3_600_000);
    await page.clock.runFor(2_000);
    await eventually(
      async () => Date.parse(String(await page.locator('.now').textContent())) - before,
    ).toBeGreaterThan(3_590_000);
  });
});
