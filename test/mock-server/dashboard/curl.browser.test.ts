import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { openDashboard, resend } from './scene.js';

const run = promisify(execFile);

const NASTY = `it's "two" \n lines, $HOME \`id\` $(id) \\ !! é 日本 % {a,b} [1-3] -- @file`;

describeInBrowser('"Copy as curl"', () => {
  test.each([
    // On several lines, so that the command is too.
    ['reserialized-body', ['content-type', 'x-timestamp', 'x-signature']],
    ['stale-timestamp', ['content-type', 'x-timestamp', 'x-signature']],
    ['missing-header', ['content-type', 'x-timestamp']],
  ])('copies a command that sends the same bytes again: %s', async (type, names) => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({
      server: { callbackUrl: `${endpoint.url}?it's=[1-3]&b={c,d}` },
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    const { page, server } = scene;
    await createPayment(server, { merchantPaymentReference: NASTY, amount: 1, currency: 'EUR' });
    await page.locator('.payment-row').click();
    await resend(page, type);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.').waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    await run('bash', ['-c', command], { env: { PATH: process.env['PATH'] } });

    const [original, copy] = endpoint.received;
    expect(endpoint.received).toHaveLength(2);
    expect(copy?.method).toBe('POST');
    expect(copy?.url).toBe(original?.url);
    expect(copy?.rawBody.toString()).toBe(original?.rawBody.toString());
    expect(copy?.rawBody).toEqual(original?.rawBody);
    const callbackHeaders = ['content-type', 'x-timestamp', 'x-signature'];
    expect(callbackHeaders.filter((name) => name in (copy?.headers ?? {}))).toEqual(names);
    for (const name of names) expect(copy?.headers[name]).toBe(original?.headers[name]);
  });

  test('the command for a callback without a content type sends none', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({
      server: { callbackUrl: endpoint.url },
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    const { page, server } = scene;
    server.faults.add({ on: 'callback', type: 'missing-header', header: 'content-type' });
    await server.setStatus(await createPayment(server), 'paid');
    await page.locator('.payment-row').click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.').waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    await run('bash', ['-c', command], { env: { PATH: process.env['PATH'] } });
    expect(endpoint.received[1]?.headers['content-type']).toBeUndefined();
  });

  test('when copying is not allowed, the text is shown to copy by hand', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({ server: { callbackUrl: endpoint.url } });
    const { page, server } = scene;
    await page.evaluate(
      "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })",
    );
    await server.setStatus(await createPayment(server), 'paid');
    await page.locator('.payment-row').click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    expect(await page.getByRole('textbox', { name: 'Copy as curl' }).inputValue()).toContain(
      '--data-raw',
    );
  });
});
