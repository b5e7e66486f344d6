import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment, postPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { openDashboard } from './scene.js';

describeInBrowser('faults in the dashboard', () => {
  test('a fault on requests is added, applied to one and then gone', async () => {
    await using scene = await openDashboard({ hash: '#/faults' });
    const { page, server } = scene;
    await page.getByText('No faults: everything works.').waitFor();
    await page.getByLabel('Type').selectOption('server-error');
    await page.getByLabel('HTTP status').fill('503');
    await page.getByLabel('How often').fill('2');
    await page.getByLabel('Only for the merchant reference').fill('order-1');
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.getByText('2 times', { exact: true }).waitFor();
    expect(server.faults.pending()).toEqual([
      {
        on: 'request',
        type: 'server-error',
        status: 503,
        times: 2,
        match: { merchantPaymentReference: 'order-1' },
      },
    ]);
    expect((await postPayment(server)).status).toBe(503);
    await page.getByText('once', { exact: true }).waitFor();
    expect((await postPayment(server)).status).toBe(503);
    await page.getByText('No faults: everything works.').waitFor();
  });

  test('a fault on callbacks lasts until it is cleared', async () => {
    await using endpoint = await startEndpoint();
    await using scene = await openDashboard({
      hash: '#/faults',
      server: { callbackUrl: endpoint.url },
    });
    const { page, server } = scene;
    await page.getByLabel('Type').selectOption('extra-field');
    await page.getByLabel('Value').fill('{"deep":[1]}');
    await page.getByLabel('Unlimited').check();
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.getByText('until cleared', { exact: true }).waitFor();
    await server.setStatus(await createPayment(server), 'paid');
    expect(JSON.parse(String(endpoint.received[0]?.rawBody)).mockExtraField).toEqual({ deep: [1] });
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.getByText('No faults: everything works.').waitFor();
    expect(server.faults.pending()).toEqual([]);
  });

  test('one of several is removed', async () => {
    await using scene = await openDashboard({ hash: '#/faults' });
    const { page, server } = scene;
    server.faults.add({ on: 'request', type: 'hang' });
    server.faults.add({ on: 'callback', type: 'drop' });
    await page.getByRole('button', { name: 'Remove hang' }).click();
    await page.getByText('Removed: hang.').waitFor();
    await page.getByRole('button', { name: 'Remove hang' }).waitFor({ state: 'detached' });
    expect(server.faults.pending()).toMatchObject([{ type: 'drop' }]);
  });

  test('each type can be added as the form proposes it', async () => {
    await using scene = await openDashboard({ hash: '#/faults' });
    const { page, server } = scene;
    const menu = page.getByLabel('Type');
    const types = await menu
      .locator('option')
      .evaluateAll((options) => options.map((option) => option.getAttribute('value') ?? ''));
    for (const [index, type] of types.entries()) {
      await menu.selectOption(type);
      // The only field without a default.
      if (type === 'delay' || type === 'late-answer')
        await page.getByLabel('Delay in milliseconds').fill('5');
      await page.getByRole('button', { name: 'Add fault' }).click();
      await page.locator('.fault').nth(index).waitFor();
      await page.getByText(`Added: ${type}.`, { exact: true }).waitFor();
    }
    expect(server.faults.pending().map(({ type }) => type)).toEqual(types);
    expect(types).toHaveLength(27);
  });

  test('an invalid fault is refused with the reason', async () => {
    await using scene = await openDashboard({
      hash: '#/faults',
      expectedErrors: /400 \(Bad Request\)/,
    });
    const { page } = scene;
    await page.getByLabel('Type').selectOption('server-error');
    await page.getByLabel('HTTP status').fill('200');
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.getByRole('alert').filter({ hasText: 'from 500 to 599' }).waitFor();
  });
});
