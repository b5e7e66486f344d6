import { PaymentClient } from 'merchant-payments';

export async function POST() {
  const client = PaymentClient.fromEnv();
  const order = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };
  const { payment } = await client.payments.create(order);
  await client.close();
  return Response.json({ referenceNumber: payment.referenceNumber });
}
