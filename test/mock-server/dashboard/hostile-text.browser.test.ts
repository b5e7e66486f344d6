import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { eventually, openDashboard, overflowOf, paymentRow } from './scene.js';

const MARKUP =
  '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><b id="injected">';

describeInBrowser('text from outside in the dashboard', () => {
  test('markup in a reference, a status and an answer is shown as text and does nothing', async () => {
    await using endpoint = await startEndpoint(() => (response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`answer ${MARKUP}`);
    });
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    const referenceNumber = await createPayment(server, {
      merchantPaymentReference: `reference ${MARKUP}`,
      amount: 1,
      currency: 'EUR',
      note: `extra ${MARKUP}`,
    });
    await paymentRow(page, 'reference').click();
    await server.setStatus(referenceNumber, `status ${MARKUP}`);
    await page.getByText(`answer ${MARKUP}`, { exact: true }).first().waitFor();
    await page.getByRole('heading', { name: `reference ${MARKUP}` }).waitFor();
    await eventually(() =>
      page.getByText(`status ${MARKUP}`, { exact: true }).count(),
    ).toBeGreaterThan(1);
    await page.getByText('"note": "extra').first().waitFor();
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.locator('summary', { hasText: 'POST /api/payments' }).click();
    await page.getByText('"merchantPaymentReference": "reference').first().waitFor();
    server.faults.add({
      on: 'callback',
      type: 'drop',
      match: { merchantPaymentReference: `fault ${MARKUP}` },
    });
    await page.getByRole('link', { name: 'Faults' }).click();
    await page.locator('.fault code').getByText('fault </script><script>').waitFor();
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('#injected, main img').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(1);
  });

  test.each([
    ['a right-to-left override', 'order \u202e gnp.exe'],
    ['line breaks and control characters', 'order\n\n\n\u0007\u001b[2J\t\u0000'],
    ['ten thousand letters without a space', 'x'.repeat(10_000)],
    ['a hundred marks on one letter', `order a${'\u0301'.repeat(100)}`],
  ])('%s in a reference does not break the layout at 400 px', async (_, reference) => {
    await using scene = await openDashboard({ context: { viewport: { width: 400, height: 800 } } });
    const { page, server } = scene;
    const referenceNumber = await createPayment(server, {
      merchantPaymentReference: reference,
      amount: 1,
      currency: 'EUR',
    });
    const row = page.locator('.payment-row');
    await row.waitFor();
    expect(await overflowOf(page)).toBe(0);
    // At most three lines, and the amount is unaffected.
    expect((await row.boundingBox())?.height).toBeLessThan(120);
    expect(await row.locator('.amount').textContent()).toBe('1 EUR');
    await row.click();
    await page.getByText(referenceNumber).first().waitFor();
    expect(await overflowOf(page)).toBe(0);
  });
});
