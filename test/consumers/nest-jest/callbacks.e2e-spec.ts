import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { All, Controller, type INestApplication, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PaymentClient } from 'merchant-payments';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';

const signingSecret = 'nest-signing-secret';
const received: string[] = [];

@Controller()
class PaymentsController {
  readonly #handle = callbackHandler({
    signingSecret,
    onPayment: ({ payment }) => void received.push(payment.status),
  });

  @All('callbacks/payments')
  async callback(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    await this.#handle(request, response);
  }
}

@Module({ controllers: [PaymentsController] })
class AppModule {}

let app: INestApplication;
let service: MockServer;

beforeAll(async () => {
  app = await NestFactory.create(AppModule, { rawBody: true, logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const callbackUrl = `${await app.getUrl()}/callbacks/payments`;
  service = await startMockServer({ signingSecret, callbackUrl });
});

afterAll(async () => {
  await service.close();
  await app.close();
});

test('handles the callback of a payment that it created', async () => {
  const { url: baseUrl, apiKey, apiSecret } = service;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  const order = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };
  const { payment } = await client.payments.create(order);
  const referenceNumber = payment.referenceNumber ?? '';
  await service.setStatus(referenceNumber, 'paid');
  const attempt = await service.waitForDelivery({ referenceNumber, status: 'paid' });
  expect(attempt.response?.status).toBe(200);
  expect(received.at(-1)).toBe('paid');
  await client.close();
});
