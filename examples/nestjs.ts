// Payment callbacks in NestJS, with its Express platform.
//
//   MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/nestjs.ts

import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { All, Body, Controller, Inject, Injectable, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { PaymentStatusRecord } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';

@Injectable()
class Orders {
  async update({ merchantPaymentReference, status }: PaymentStatusRecord): Promise<void> {
    console.log(`${merchantPaymentReference} is ${status}`);
  }
}

@Controller()
class PaymentsController {
  readonly #handle: ReturnType<typeof callbackHandler>;

  constructor(@Inject(Orders) orders: Orders) {
    this.#handle = callbackHandler({
      signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
      onPayment: ({ payment }) => orders.update(payment),
    });
  }

  @All('callbacks/payments')
  async callback(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    await this.#handle(request, response);
  }

  @Post('orders')
  order(@Body() body: unknown): unknown {
    return { ordered: body };
  }
}

@Module({ controllers: [PaymentsController], providers: [Orders] })
class AppModule {}

// rawBody: Nest keeps the bytes beside the body that it parses.
const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  rawBody: true,
  logger: ['error', 'warn'],
});
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
console.log(`Waiting for callbacks at ${await app.getUrl()}/callbacks/payments`);
