import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient } from '../../src/client/payment-client.js';
import { MerchantPaymentsError, RetryLaterError } from '../../src/errors.js';
import { createManualClock, type MockClock } from '../../src/mock-server/index.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { isPaid } from '../../src/protocol/payment.js';

/** An order as a shop keeps it. */
export interface Order {
  status: string;
  shipments: number;
}

/** A shop with its service: orders in memory, an endpoint on loopback, a clock that both live by. */
export interface Scene extends AsyncDisposable {
  readonly service: MockServer;
  readonly clock: MockClock;
  readonly orders: ReadonlyMap<string, Order>;
  /** What `onError` was called with. */
  readonly errors: readonly unknown[];
  /** Stores the order of a reference. */
  store(reference: string): void;
  /** Creates the payment of an order; says when its outcome is unknown. */
  pay(reference: string): Promise<'created' | 'unknown'>;
  /** The referenceNumber of an order's only payment. */
  paymentOf(reference: string): string;
  /** The statuses that deliveries were answered with, in the order of their sending. */
  answers(): (number | undefined)[];
}

export const RETRY_MS = 60_000;

export async function createScene(): Promise<Scene> {
  const clock = createManualClock();
  const service = await startMockServer({ clock, retryScheduleMs: [RETRY_MS, RETRY_MS, RETRY_MS] });
  const orders = new Map<string, Order>();
  const errors: unknown[] = [];
  const endpoint = createServer(
    callbackHandler({
      signingSecret: service.signingSecret,
      now: clock.now,
      onPayment({ payment }, { current }) {
        const order = orders.get(payment.merchantPaymentReference);
        if (order === undefined) throw new RetryLaterError('order not stored yet');
        if (isPaid(payment) && order.shipments === 0) order.shipments += 1;
        if (current) order.status = payment.status;
      },
      onError: (error) => void errors.push(error),
    }),
  );
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  const { port } = endpoint.address() as AddressInfo;
  service.callbackUrl = `http://127.0.0.1:${port}/callbacks`;
  const { url: baseUrl, apiKey, apiSecret } = service;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret });

  return {
    service,
    clock,
    orders,
    errors,
    store: (reference) => void orders.set(reference, { status: 'new', shipments: 0 }),
    async pay(reference) {
      const input = { merchantPaymentReference: reference, amount: 2500, currency: 'EUR' };
      try {
        await client.payments.create(input);
        return 'created';
      } catch (error) {
        if (!(error instanceof MerchantPaymentsError)) throw error;
        if (error.requestOutcome !== 'unknown') throw error;
        return 'unknown';
      }
    },
    paymentOf(reference) {
      const payments = service.payments.list();
      const found = payments.filter((one) => one.merchantPaymentReference === reference);
      const [payment] = found;
      if (payment !== undefined && found.length === 1) return payment.referenceNumber;
      throw new Error(`${reference} must have one payment, but has ${found.length}`);
    },
    answers: () => service.deliveries.map(({ response }) => response?.status),
    async [Symbol.asyncDispose]() {
      await client.close();
      await service.close();
      endpoint.closeAllConnections();
      await new Promise((resolve) => endpoint.close(resolve));
    },
  };
}
