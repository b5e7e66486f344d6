import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isPaid, type PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';

/** What the samples declare as the reader's own application. */
export async function startMyApplication(settings: {
  client?: PaymentClient;
  signingSecret: string;
}) {
  const orders = new Map<string, { status: string; shipments: number }>();
  const onPayment: Parameters<typeof callbackHandler>[0]['onPayment'] = (
    { payment },
    { order: reference, current },
  ) => {
    const order = orders.get(reference);
    if (order === undefined) throw new RetryLaterError('order not stored yet');
    if (isPaid(payment) && order.shipments === 0) order.shipments += 1;
    if (current) order.status = payment.status;
  };
  const server = await listen(
    callbackHandler({ signingSecret: settings.signingSecret, onPayment, onRejected: () => {} }),
  );
  const storeOrder = async (reference: string) => {
    orders.set(reference, { status: 'new', shipments: 0 });
  };
  return {
    callbackUrl: server.url,
    signingSecret: settings.signingSecret,
    storeOrder,
    onPayment,
    async checkout(reference: string) {
      await storeOrder(reference);
      const input = { merchantPaymentReference: reference, amount: 100, currency: 'EUR' };
      await settings.client?.payments.create(input);
    },
    shipmentsOf: async (reference: string) => orders.get(reference)?.shipments ?? 0,
    statusOf: async (reference: string) => orders.get(reference)?.status,
    close: server.close,
  };
}

/** An endpoint on a free port. */
async function listen(handler: RequestListener) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/payments`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
