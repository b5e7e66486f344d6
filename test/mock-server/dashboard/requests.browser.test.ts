import { expect, test } from 'vitest';
import { describeInBrowser } from '../../browser/browser.js';
import { createPayment, postPayment } from '../merchant-client.js';
import { eventually, openDashboard, paymentRow, type Scene } from './scene.js';

const order = (reference: string) => ({
  merchantPaymentReference: reference,
  amount: 1000,
  currency: 'EUR',
});

/** Creates a payment whose answer is lost. */
async function loseAnswer({ server }: Scene, reference: string): Promise<void> {
  const match = { merchantPaymentReference: reference };
  server.faults.add({ on: 'request', type: 'lost-answer', match });
  await expect(postPayment(server, order(reference))).rejects.toThrow('fetch failed');
}

describeInBrowser('requests in the dashboard', () => {
  test('show what your code sent and what it got, without credentials', async () => {
    await using scene = await openDashboard({ hash: '#/requests' });
    const { page, server } = scene;
    await page.getByText('No request yet.').waitFor();
    const referenceNumber = await createPayment(server);
    await page.getByText('HTTP 201').waitFor();
    await page.locator('.requests summary').click();
    const [sent, got] = [page.locator('.sides > div').first(), page.locator('.sides > div').last()];
    for (const text of ['POST', 'authorization: [redacted]', '"amount": 1000']) {
      await eventually(() => page.locator('.requests > li').textContent()).toContain(text);
    }
    await sent.getByText('With the mock’s credentials').waitFor();
    await got.getByText(`"referenceNumber": "${referenceNumber}"`).waitFor();
    await got.getByRole('link', { name: referenceNumber }).click();
    await page.getByRole('heading', { name: 'order-1' }).waitFor();
  });

  test('say of a lost answer that your code did not get it', async () => {
    await using scene = await openDashboard({ hash: '#/requests' });
    const { page, server } = scene;
    await loseAnswer(scene, 'order-1');
    const row = page.locator('.requests > li');
    await row.getByText('withheld: your code did not get this').waitFor();
    await row.getByText('fault: lost-answer').waitFor();
    await row.locator('summary').click();
    await row.getByText('The payment exists, but your code cannot know.').waitFor();
    const answer = page.getByRole('group', { name: 'HTTP 201' });
    expect(await answer.textContent()).toContain(server.payments.list()[0]?.referenceNumber);
  });

  test('say of one that the mock did not answer that no payment was created', async () => {
    await using scene = await openDashboard({ hash: '#/requests' });
    const { page, server } = scene;
    server.faults.add({ on: 'request', type: 'reset-before-headers' });
    await expect(postPayment(server)).rejects.toThrow('fetch failed');
    await page.getByText('no answer', { exact: true }).waitFor();
    await page.locator('.requests summary').click();
    await page.getByText('No payment was created, but your code cannot know.').waitFor();
  });

  test('are filtered by outcome and found by reference', async () => {
    await using scene = await openDashboard({ hash: '#/requests' });
    const { page, server } = scene;
    await createPayment(server, order('order-1'));
    await createPayment(server, order('other-2'));
    await postPayment({ url: server.url, apiKey: 'somebody', apiSecret: 'else' }, order('order-3'));
    await loseAnswer(scene, 'order-4');
    const references = page.locator('.requests > li .reference');
    await eventually(() => references.allTextContents()).toEqual([
      'order-4',
      'order-3',
      'other-2',
      'order-1',
    ]);
    const filters = page.getByRole('navigation', { name: 'Filter requests' });
    for (const [name, left] of [
      ['Lost', ['order-4']],
      ['Refused', ['order-3']],
      ['Accepted', ['other-2', 'order-1']],
    ] as const) {
      await filters.getByRole('link', { name }).click();
      await eventually(() => references.allTextContents()).toEqual(left);
    }
    await page.getByLabel('Search by reference or status').fill('other');
    await eventually(() => references.allTextContents()).toEqual(['other-2']);
    await page.keyboard.press('Enter');
    await page.getByText('Your code sent').waitFor();
    await filters.getByRole('link', { name: 'Lost' }).click();
    await page.getByText('No requests match.').waitFor();
  });

  test('begin the timeline of the payment that they created', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    await loseAnswer(scene, 'order-1');
    await server.setStatus(server.payments.list()[0]?.referenceNumber ?? '', 'paid');
    await paymentRow(page, 'order-1').click();
    const first = page.locator('.timeline > li').last();
    await first.getByText('POST /api/payments').waitFor();
    await first.getByText('withheld: your code did not get this').waitFor();
  });

  test('that failed are in the overview', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    await loseAnswer(scene, 'order-1');
    server.faults.add({ on: 'request', type: 'server-error', status: 503 });
    await postPayment(server, order('order-2'));
    await createPayment(server, order('order-3'));
    const failed = page.getByRole('region', { name: 'Requests that failed' });
    await eventually(() => failed.locator('.reference').allTextContents()).toEqual([
      'order-2',
      'order-1',
    ]);
    await failed.getByText('HTTP 503').waitFor();
  });
});

describeInBrowser('a second payment for one reference', () => {
  test('is flagged in its row, in the overview, and in both payments', async () => {
    await using scene = await openDashboard();
    const { page, server } = scene;
    const first = await createPayment(server, order('order-1'));
    await createPayment(server, order('order-2'));
    await page.getByText('Nothing has failed.').waitFor();
    const second = await createPayment(server, order('order-1'));
    await eventually(() =>
      page.locator('.payment-row', { hasText: 'second' }).getAttribute('id'),
    ).toBe(`payment-${second}`);
    expect(await page.locator('.payment-row', { hasText: 'second' }).count()).toBe(1);
    const flagged = page.getByRole('region', { name: 'Second payments for one reference: 1' });
    await flagged.getByRole('link', { name: 'order-1' }).click();
    await page.getByText('This is a second payment').waitFor();
    await page.locator('.others').getByRole('link', { name: first }).click();
    await page.getByText('There is a second payment for this reference.').waitFor();
    await page.locator('.others').getByRole('link', { name: second }).waitFor();
  });
});
