import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient } from 'merchant-payments';
import { createManualClock, type MockServer, startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import { equal } from './assert.js';
import type { CaseGroup } from './case.js';
import { SECRET } from './signed-callback.js';

const order = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };

// What the client's cases do not ask of it.
export const mockServer: CaseGroup = {
  name: 'mock-server',
  cases: [
    {
      name: 'does to a callback handler what its faults say, and each payment is handled once',
      async run() {
        const handled: string[] = [];
        const clock = createManualClock();
        const handle = callbackHandler({
          signingSecret: SECRET,
          now: clock.now,
          onPayment: ({ payment }) => void handled.push(payment.status),
          onRejected: () => undefined,
        });
        const endpoint = createServer(handle);
        await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
        const { port } = endpoint.address() as AddressInfo;
        const service = await startMockServer({
          signingSecret: SECRET,
          clock,
          retryScheduleMs: [1_000],
          callbackUrl: `http://127.0.0.1:${port}/callbacks`,
        });
        try {
          const referenceNumber = await createPayment(service);
          const types = ['duplicate', 'tampered-body', 'wrong-secret', 'drop'] as const;
          for (const type of types) {
            service.faults.add({ on: 'callback', type });
            await service.setStatus(referenceNumber, type);
            await clock.advance(10_000);
          }
          equal(handled, types);
        } finally {
          await service.close();
          endpoint.closeAllConnections();
          await new Promise<void>((resolve) => endpoint.close(() => resolve()));
        }
      },
    },
  ],
};

async function createPayment({ url, apiKey, apiSecret }: MockServer): Promise<string> {
  const client = new PaymentClient({ baseUrl: url, apiKey, apiSecret });
  const { payment } = await client.payments.create(order);
  await client.close();
  return payment.referenceNumber ?? '';
}
