import { expect, test } from './payment-service.js';

test('a lost answer and a paid callback: the customer sees one paid order', async ({
  page,
  paymentService,
}) => {
  paymentService.faults.add({ on: 'request', type: 'lost-answer' });
  await page.goto('/');
  await page.getByRole('button', { name: 'Pay' }).click();
  await expect(page.getByText('We are checking your payment')).toBeVisible();

  const payments = paymentService.payments.list();
  expect(payments).toHaveLength(1);
  await paymentService.setStatus(payments[0]?.referenceNumber ?? '', 'paid');
  await expect(page.getByText('Thank you, it is paid')).toBeVisible();
});

test('the customer returns before the callback', async ({ page, paymentService }) => {
  paymentService.faults.add({ on: 'callback', type: 'drop' });
  await page.goto('/');
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByRole('link', { name: 'Go to the payment page' }).click();
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await expect(page.getByText('Waiting for your payment')).toBeVisible();

  const reference = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await paymentService.resend(reference);
  await expect(page.getByText('Thank you, it is paid')).toBeVisible();
});
