import { expect, test } from 'vitest';
import { createManualClock } from '../../../src/mock-server/index.js';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment, order, postPayment } from '../merchant-client.js';
import { reserveClosedPort, startEndpoint } from '../merchant-endpoint.js';
import { startMerchant } from '../merchant-server.js';
import { eventually, line, openDashboard } from './scene.js';

const signingSecret = 'whsec_of_the_dashboard';
/** What each column of a line says, those that say nothing left out. */
const columns = ['.what', '.order', '.price', '.status', '.answer', '.why', '.next'];

async function read(row: ReturnType<typeof line>): Promise<string[]> {
  const texts = await Promise.all(columns.map((name) => row.locator(name).innerText()));
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

describeInBrowser('the stream', () => {
  test('has one line an event, newest first: what was sent, what was answered, and why', async () => {
    await using endpoint = await startEndpoint((count) => (response) => {
      response.writeHead([200, 500, 200][count - 1] ?? 200, { 'content-type': 'text/html' });
      response.end(count === 2 ? '<html><body>order &quot;7&quot; isn&#39;t stored</body>' : '');
    });
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, clock: createManualClock(), retryScheduleMs: [90_000] },
    });
    const { page, server } = scene;
    const referenceNumber = await createPayment(server);
    await server.setStatus(referenceNumber, 'authorised');
    await server.pay(referenceNumber);
    await postPayment(server, { ...order, merchantPaymentReference: 'order-2', currency: 'eur' });
    server.faults.add({ on: 'request', type: 'lost-answer' });
    await postPayment(server, { ...order, merchantPaymentReference: 'order-3' }).catch(() => 0);
    server.faults.add({ on: 'callback', type: 'wrong-secret' });
    await server.resend(referenceNumber);
    await eventually(() => page.locator('.line').count()).toBe(6);
    const rows = await Promise.all((await page.locator('.line').all()).map(read));
    const requests = rows.filter(([what]) => what?.startsWith('→'));
    const callbacks = rows.filter(([what]) => what?.startsWith('←'));
    expect(requests).toEqual([
      [
        ...['→ POST /api/payments', 'order-3', '1000 EUR', '◔ pending', '✕ 201 lost'],
        'fault lost-answer the payment exists, but your code cannot know',
      ],
      [
        ...['→ POST /api/payments', 'order-2', '✕ 400'],
        expect.stringContaining('INVALID_REQUEST: currency must be'),
      ],
      ['→ POST /api/payments', 'order-1', '1000 EUR', '✓ paid', '✓ 201'],
    ]);
    expect(callbacks).toEqual([
      [
        ...['← callback', 'order-1', '1000 EUR', '✓ paid', '✕ 200'],
        expect.stringContaining('fault wrong-secret Your endpoint accepted a forged callback'),
      ],
      [
        ...['← callback', 'order-1', '1000 EUR', '✓ paid', '✕ 500', `order "7" isn't stored`],
        expect.stringContaining('in 1 min 30 s'),
      ],
      ['← callback', 'order-1', '1000 EUR', '○ authorised', '✓ 200'],
    ]);
    expect(await page.title()).toBe('(4 failed) Stream · Till');
    await page.getByRole('button', { name: /^Failed/ }).click();
    expect(await page.locator('.line').count()).toBe(4);
  });

  test('makes the next try by a click on its countdown', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 503 : 200));
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [3_600_000] },
    });
    const { page, server } = scene;
    await server.pay(await createPayment(server));
    const next = page.locator('.next button');
    await next.click();
    await line(page, 'try 2').getByText('200').waitFor();
    expect(await next.count()).toBe(0);
    expect(endpoint.received).toHaveLength(2);
  });

  test('shows what has no attempt, and what no callback URL or a closed port means', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    const referenceNumber = await createPayment(server);
    await server.setStatus(referenceNumber, 'authorised');
    await line(page, 'no callback URL was set').getByText('not sent').waitFor();
    const warning = page.getByRole('region', { name: 'Warning' });
    const closed = `http://127.0.0.1:${await reserveClosedPort()}/callbacks`;
    await warning.getByLabel('Callback URL').fill(closed);
    await warning.getByRole('button', { name: 'Set' }).click();
    await eventually(() => server.callbackUrl).toBe(closed);
    await eventually(() => warning.count()).toBe(0);
    await server.pay(referenceNumber);
    await line(page, 'Nothing listens at that address').getByText('ECONNREFUSED').waitFor();
    server.faults.add({ on: 'callback', type: 'reorder' });
    await server.setStatus(referenceNumber, 'refunded');
    await line(page, 'until the next change was sent').getByText('held').waitFor();
  });

  test('flags a second payment of an order', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    await createPayment(server);
    const second = await createPayment(server);
    await page.getByText('Second payments of an order: 1.').waitFor();
    await line(page, 'a second payment of this order').click();
    await page.getByText('This order has 2 payments.').waitFor();
    await page
      .getByRole('link', { name: server.payments.list()[0]?.referenceNumber ?? '' })
      .click();
    await page.getByRole('link', { name: second }).waitFor();
  });

  test('is searched by /, in bodies too, and Esc goes back', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    await createPayment(server, { ...order, note: 'a word of a Body' });
    await createPayment(server, { ...order, merchantPaymentReference: 'order-2' });
    await line(page, 'order-2').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('word of a body');
    await eventually(() => page.locator('.line').count()).toBe(1);
    await page.getByText('1 of 2 events').waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => page.locator('.line').count()).toBe(2);
    await line(page, 'order-2').click();
    await page.getByRole('heading', { name: 'order-2' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'order-2' }).waitFor();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.keyboard.press('Escape');
    await eventually(() => page.getByRole('region', { name: 'settings' }).count()).toBe(0);
    await page.getByRole('heading', { name: 'order-2' }).waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => page.getByRole('heading', { name: 'order-2' }).count()).toBe(0);
  });

  test('is fetched once, and follows a burst of events', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    const calls: string[] = [];
    page.on('request', (request) => calls.push(request.url()));
    const referenceNumber = await createPayment(server);
    const changes = Array.from({ length: 300 }, (_, index) => `status-${index}`);
    await Promise.all(changes.map((status) => server.setStatus(referenceNumber, status)));
    await line(page, 'status-299').getByText('200').waitFor();
    await page.getByText('The newest 200 payments, requests and callbacks are shown').waitFor();
    expect(await page.locator('.line').count()).toBe(201);
    expect(calls).toEqual([]);
    server.reset();
    await page.getByText('Nothing has happened yet.').waitFor();
  });
});

describeInBrowser('a payment', () => {
  test('opens beside the stream with its whole story, and every byte of what is open', async () => {
    await using merchant = await startMerchant(signingSecret);
    await using scene = await openDashboard({
      server: { callbackUrl: merchant.url, signingSecret, retryScheduleMs: [] },
    });
    const { page, server } = scene;
    const referenceNumber = await createPayment(server, { ...order, note: 'of the creation' });
    await createPayment(server, { ...order, merchantPaymentReference: 'other' });
    await server.pay(referenceNumber);
    await line(page, '← callback').click();
    const pane = page.locator('.pane');
    await eventually(() => pane.locator('.story > li').count()).toBe(2);
    const [attempt] = server.deliveries;
    await pane
      .getByRole('group', { name: 'Signed text' })
      .getByText(`${attempt?.timestamp}.`)
      .waitFor();
    await pane.getByText(`x-signature: ${attempt?.headers['x-signature']}`).waitFor();
    await pane.getByRole('link', { name: '→ POST /api/payments' }).click();
    await pane.getByText('"note": "of the creation"').first().waitFor();
    await pane.getByText('The mock answered').waitFor();

    await pane.getByLabel('Another status').fill('refunded');
    await pane.getByRole('button', { name: 'Set', exact: true }).click();
    await pane.getByText('refunded, 200').waitFor();
    await pane.getByLabel('The last callback again').selectOption('twice at once');
    await pane.getByRole('button', { name: 'Resend', exact: true }).click();
    await eventually(() => server.deliveries.map(({ copy }) => copy)).toEqual([0, 0, 0, 1]);
    await pane.getByLabel('The last callback again').selectOption('wrong-secret');
    await pane.getByRole('button', { name: 'Resend', exact: true }).click();
    await pane.getByText('refunded, 401').waitFor();
    expect(server.deliveries.at(-1)?.fault).toBe('wrong-secret');
  });

  test('a callback is edited and resent, and copied as curl', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url },
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    const { page, server } = scene;
    await server.pay(await createPayment(server));
    await line(page, '← callback').click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.').waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(command).toContain(`--data-raw '${endpoint.received[0]?.rawBody}'`);
    await page.getByText('Edit and resend').click();
    await page.getByLabel('Body to send').fill('{"edited":true}');
    await page.getByRole('button', { name: 'Send edited' }).click();
    await eventually(() => endpoint.received[1]?.rawBody.toString()).toBe('{"edited":true}');
  });

  test('markup in a reference, a status and an answer is text and does nothing', async () => {
    const markup = '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">';
    await using endpoint = await startEndpoint(() => (response) => {
      response.writeHead(500).end(`answer ${markup}`);
    });
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    const referenceNumber = await createPayment(server, {
      ...order,
      merchantPaymentReference: `reference ${markup}`,
    });
    await server.setStatus(referenceNumber, `status ${markup}`);
    await line(page, '← callback').click();
    await page.getByRole('heading', { name: `reference ${markup}` }).waitFor();
    await page.getByText(`answer ${markup}`, { exact: true }).first().waitFor();
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('main img').count()).toBe(0);
  });
});

describeInBrowser('the header', () => {
  test('creates a payment by a request, under the faults that are added there', async () => {
    await using scene = await openDashboard({ expectedErrors: /422/ });
    const { page, server } = scene;
    await page.getByRole('button', { name: 'Faults' }).click();
    const faults = page.getByRole('region', { name: 'faults' });
    await faults.getByLabel('Next fault').selectOption('client-error');
    await faults.getByLabel('HTTP status').fill('422');
    await faults.getByLabel('Body: JSON, or plain text').fill('{"code":"LIMIT"}');
    await faults.getByLabel('Times').selectOption('unlimited');
    await faults.getByLabel('Only for the reference').fill('order-9');
    await faults.getByRole('button', { name: 'Add fault' }).click();
    await eventually(() => server.faults.pending()).toEqual([
      {
        on: 'request',
        type: 'client-error',
        status: 422,
        body: { code: 'LIMIT' },
        times: Number.POSITIVE_INFINITY,
        match: { merchantPaymentReference: 'order-9' },
      },
    ]);
    await page.getByRole('button', { name: 'Create payment' }).click();
    const create = page.getByRole('region', { name: 'create' });
    await create.getByLabel('Merchant reference').fill('order-9');
    await create.getByRole('button', { name: 'Create', exact: true }).click();
    await create.getByText('Refused with 422').waitFor();
    await line(page, 'LIMIT').getByText('422').waitFor();
    await page.getByRole('button', { name: /^Faults/ }).click();
    await faults.getByRole('button', { name: /^Remove/ }).click();
    await eventually(() => server.faults.pending()).toEqual([]);
    await page.getByRole('button', { name: 'Create payment' }).click();
    await create.getByRole('button', { name: 'Create', exact: true }).click();
    await create.getByText('Created.').waitFor();
    expect(server.payments.list()).toMatchObject([{ merchantPaymentReference: 'order-1001' }]);
  });

  test('moves the clock, and starts anew', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url, retryScheduleMs: [60_000] },
    });
    const { page, server } = scene;
    await server.pay(await createPayment(server));
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Advance 1 min' }).click();
    await page.getByText('Advanced by 1 min.').waitFor();
    await page.locator('.clock').getByText('ahead').waitFor();
    expect(endpoint.received).toHaveLength(2);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Reset the mock' }).click();
    await page.getByText('Everything was deleted.').waitFor();
    expect(server.payments.list()).toEqual([]);
  });
});
