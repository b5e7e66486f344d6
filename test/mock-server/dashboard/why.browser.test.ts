import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { callbackHandler } from '../../../src/node/index.js';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { eventually, openDashboard, paymentRow, type Scene } from './scene.js';

const UNKNOWN = { code: 'ORDER_UNKNOWN', message: 'There is no order-1 in the shop.' };

/** Answers as an endpoint that explains itself. */
const explain = () => (response: import('node:http').ServerResponse) => {
  response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(UNKNOWN));
};

async function pay({ server }: Scene, reference = 'order-1'): Promise<string> {
  const body = { merchantPaymentReference: reference, amount: 1, currency: 'EUR' };
  const referenceNumber = await createPayment(server, body);
  await server.setStatus(referenceNumber, 'paid');
  return referenceNumber;
}

/** The positions of texts in an element, in the order of reading. */
async function placesOf(root: Locator, ...texts: readonly string[]): Promise<number[]> {
  const all = await root.innerText();
  return texts.map((text) => all.indexOf(text));
}

describeInBrowser('why a callback failed', () => {
  test('is in its row: the status, the time and what the endpoint said, without a click', async () => {
    await using endpoint = await startEndpoint(explain);
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    await pay(scene);
    const said = 'ORDER_UNKNOWN: There is no order-1 in the shop.';
    for (const hash of ['', '#/callbacks']) {
      await page.goto(`${server.url}/_mock/${hash}`);
      const row = page.locator('.callbacks > li');
      await row.getByText('HTTP 422').waitFor();
      await row.getByText(said, { exact: true }).waitFor();
      expect(await row.locator('time').textContent()).toMatch(/^\d\d:\d\d:\d\d$/);
    }
  });

  test('names the fault that the mock itself applied, in the row and first in the diagnosis', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    server.faults.add({ on: 'callback', type: 'stale-timestamp' });
    await pay(scene);
    await page.goto(`${server.url}/_mock/#/callbacks`);
    const row = page.locator('.callbacks > li');
    await row.getByText('fault: stale-timestamp').waitFor();
    await row.getByText('The mock applied the fault stale-timestamp').waitFor();
    await row.getByRole('link', { name: 'order-1' }).click();
    await page.locator('summary', { hasText: 'Diagnose' }).click();
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.locator('.findings .finding').first().getByText('mock-fault').waitFor();
  });

  test('is open with the payment: the answer first, then the signed text, headers, body and tools', async () => {
    await using endpoint = await startEndpoint(explain);
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [] },
    });
    const { page } = scene;
    await pay(scene);
    await paymentRow(page, 'order-1').click();
    const attempt = page.locator('.attempts .row-details[open]');
    await attempt.getByText('"message": "There is no order-1 in the shop."').waitFor();
    const places = await placesOf(
      attempt,
      'Answer: HTTP 422',
      'Signed text',
      'Headers',
      'Body',
      'Copy as curl',
      'Diagnose',
      'Edit and resend',
    );
    expect(places).toEqual([...places].sort((left, right) => left - right));
    expect(places[0]).toBeGreaterThanOrEqual(0);
  });

  test('is said where the answer of the package’s own handler is empty', async () => {
    const handle = callbackHandler({ signingSecret: 'another_secret_of_mine', onPayment() {} });
    const node = await import('node:http');
    const own = node.createServer(handle);
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
    const { port } = own.address() as import('node:net').AddressInfo;
    try {
      await using scene = await openDashboard({
        server: { callbackUrl: `http://127.0.0.1:${port}/`, retryScheduleMs: [] },
      });
      const { page } = scene;
      await pay(scene);
      const hint = 'compare the signing secret';
      await page.locator('.attention').getByText(hint).waitFor();
      await paymentRow(page, 'order-1').click();
      await page.locator('.attempts .finding').getByText(hint).waitFor();
    } finally {
      own.closeAllConnections();
      own.close();
    }
  });

  test('shows the newest failed attempt, and leaves open what the reader uses', async () => {
    await using endpoint = await startEndpoint(() => 500);
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [60_000, 60_000] },
    });
    const { page } = scene;
    await pay(scene);
    await paymentRow(page, 'order-1').click();
    const open = page.locator('.attempts .row-details[open] > summary .attempt-name');
    await eventually(() => open.allTextContents()).toEqual(['Attempt 1']);
    await page.getByRole('button', { name: 'Advance the clock to it' }).click();
    await eventually(() => open.allTextContents()).toEqual(['Attempt 2']);
    await page.locator('summary', { hasText: 'Edit and resend' }).click();
    await page.getByLabel('Body to send').fill('half-typed');
    await page.getByRole('button', { name: 'Advance the clock to it' }).click();
    await eventually(() => open.allTextContents()).toEqual(['Attempt 3', 'Attempt 2']);
    expect(await page.getByLabel('Body to send').inputValue()).toBe('half-typed');
  });

  test('of a payment without a failure the newest attempt is open', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    await pay(scene);
    await paymentRow(page, 'order-1').click();
    const signed = page.getByRole('group', { name: 'Signed text' });
    await eventually(() => signed.textContent()).toBe(server.deliveries[0]?.signedString);
  });
});
