// Payment callbacks in NestJS, with its Express platform.
//
//   MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/nestjs.ts

import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { All, Body, Controller, Inject, Injectable, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { callbackHandler } from 'merchant-payments/node';
import { checkout, settle, store } from './memory-shop.js';

@Injectable()
class Orders {
  readonly checkout = checkout;
  readonly settle = settle;
}

@Controller()
class PaymentsController {
  readonly #orders: Orders;
  readonly #handle: ReturnType<typeof callbackHandler>;

  constructor(@Inject(Orders) orders: Orders) {
    this.#orders = orders;
    this.#handle = callbackHandler({ store, onPayment: orders.settle });
  }

  @All('callbacks/payments')
  async callback(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    await this.#handle(request, response);
  }

  @Post('orders')
  order(@Body('reference') reference: string): Promise<unknown> {
    return this.#orders.checkout(reference);
  }
}

@Module({ controllers: [PaymentsController], providers: [Orders] })
class AppModule {}

// With rawBody, Nest keeps the raw body in addition to the parsed body.
const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  rawBody: true,
  logger: ['error', 'warn'],
});
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
console.log(`Waiting for callbacks at ${await app.getUrl()}/callbacks/payments`);
