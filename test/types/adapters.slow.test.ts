import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type {
  ALBEvent,
  ALBHandler,
  ALBResult,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLEvent,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import express from 'express';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { fastify as fastify4 } from 'fastify-4';
import { Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import type { VerifiedCallback } from '../../src/callback/index.js';
import { callbackPlugin } from '../../src/fastify/index.js';
import * as web from '../../src/fetch/index.js';
import * as lambda from '../../src/lambda/index.js';
import { callbackHandler } from '../../src/node/index.js';
import { createCallbackReceiver, type StoreContext } from '../../src/receiver/index.js';
import { type CallbackStore, memoryStore } from '../../src/store/index.js';

interface Transaction {
  query(sql: string): Promise<void>;
}

// As postgresStore gives it.
const store = memoryStore() as unknown as CallbackStore<Transaction>;
const signingSecret = 'callback-secret';
const options = { signingSecret, onPayment: () => undefined };

describe('onPayment', () => {
  it('may return a promise of anything', () => {
    callbackHandler({ signingSecret, onPayment: async ({ key }) => key });
    callbackHandler({ signingSecret, onPayment: ({ key }) => Promise.resolve({ id: key }) });
    callbackHandler({ signingSecret, onPayment() {} });
    expectTypeOf(callbackHandler).toBeFunction();
  });
});

describe('a recordSchema', () => {
  const recordSchema = z.object({ orderId: z.string() });

  it('types the payment in onPayment, beside a store that types tx', () => {
    callbackHandler({
      signingSecret,
      recordSchema,
      store,
      onPayment({ payment }, { tx, current }) {
        expectTypeOf(payment.orderId).toEqualTypeOf<string>();
        expectTypeOf(payment.status).toExtend<string>();
        expectTypeOf(tx).toEqualTypeOf<Transaction>();
        expectTypeOf(current).toEqualTypeOf<boolean>();
      },
    });
    createCallbackReceiver({
      signingSecret,
      onPayment({ payment }, { tx }) {
        expectTypeOf(payment.orderId).toEqualTypeOf<string>();
        expectTypeOf(tx).toEqualTypeOf<undefined>();
      },
      recordSchema,
    });
    web.callbackHandler({
      signingSecret,
      recordSchema,
      store,
      onPayment({ payment }, { tx }) {
        expectTypeOf(payment.orderId).toEqualTypeOf<string>();
        expectTypeOf(tx).toEqualTypeOf<Transaction>();
      },
    });
    lambda.callbackHandler({
      signingSecret: async () => signingSecret,
      recordSchema,
      store,
      onPayment({ payment }, { tx }) {
        expectTypeOf(payment.orderId).toEqualTypeOf<string>();
        expectTypeOf(tx).toEqualTypeOf<Transaction>();
      },
    });
    expect(recordSchema.shape).toHaveProperty('orderId');
  });

  it('is named for Fastify, whose types infer nothing from options', async () => {
    const app = fastify();
    app.register(callbackPlugin<Transaction, { orderId: string }>, {
      path: '/a',
      signingSecret,
      recordSchema,
      store,
      onPayment({ payment }, { tx }) {
        expectTypeOf(payment.orderId).toEqualTypeOf<string>();
        expectTypeOf(tx).toEqualTypeOf<Transaction>();
      },
    });
    app.register(callbackPlugin, {
      path: '/b',
      signingSecret,
      recordSchema,
      onPayment({ payment }: VerifiedCallback<{ orderId: string }>) {
        expectTypeOf(payment.orderId).toEqualTypeOf<string>();
      },
    });
    await app.ready();
  });

  it('is what gives fields: onPayment cannot ask for them without one', () => {
    callbackHandler({
      signingSecret,
      onPayment({ payment }) {
        // @ts-expect-error not a field of the interface
        expectTypeOf(payment.orderId).toBeString();
      },
    });
    callbackHandler<Transaction>({
      signingSecret,
      recordSchema,
      store,
      onPayment: (_callback, { tx }) => tx.query('select 1'),
    });
    expect(callbackHandler).toBeTypeOf('function');
  });
});

describe('the handler for node:http', () => {
  it('is a handler of Express, and infers what onPayment is given', () => {
    const app = express();
    app.post('/a', callbackHandler(options));
    app.use('/b', callbackHandler(options));
    app.post(
      '/c',
      callbackHandler({
        signingSecret,
        onPayment(callback, { tx, signal }) {
          expectTypeOf(callback).toEqualTypeOf<VerifiedCallback>();
          expectTypeOf(tx).toEqualTypeOf<undefined>();
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        },
      }),
    );
    app.post(
      '/d',
      callbackHandler({
        signingSecret,
        store,
        onPayment(_callback, { tx }) {
          expectTypeOf(tx).toEqualTypeOf<Transaction>();
        },
      }),
    );
    expect(app).toBeDefined();
  });

  it('is what Koa, NestJS and a page of Next.js call', () => {
    const handler = callbackHandler(options);
    new Koa().use((context) => handler(context.req, context.res)).use(handler);
    interface NextApiRequest extends IncomingMessage {
      body: unknown;
      query: object;
    }
    type NextApiResponse = ServerResponse & { json(body: unknown): void };
    type NextApiHandler = (request: NextApiRequest, response: NextApiResponse) => unknown;
    expectTypeOf(handler).toExtend<NextApiHandler>();
    expectTypeOf(handler).toBeCallableWith({} as express.Request, {} as express.Response);
  });

  it('is called in a route of Fastify 4 and 5, as NestJS has them', () => {
    const handler = callbackHandler(options);
    fastify().post('/a', (request, reply) => handler(request, reply));
    fastify4().post('/a', (request, reply) => handler(request, reply));
    expectTypeOf(handler).toBeCallableWith({} as FastifyRequest, {} as FastifyReply);
  });

  it('does not take a store without transactions where they are named', () => {
    callbackHandler<Transaction>({
      signingSecret,
      // @ts-expect-error a store without transactions
      store: memoryStore(),
      onPayment: (_callback, { tx }) => tx.query('select 1'),
    });
  });
});

describe('the plugin for Fastify', () => {
  it('is registered with its options in 4 and 5, and infers what onPayment is given', async () => {
    const app4 = fastify4();
    app4.register(callbackPlugin, {
      path: '/a',
      prefix: '/shop',
      signingSecret,
      onPayment(callback, { tx, signal }) {
        expectTypeOf(callback).toEqualTypeOf<VerifiedCallback>();
        expectTypeOf(tx).toEqualTypeOf<unknown>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      },
    });
    const app5 = fastify();
    app5.register(callbackPlugin, {
      path: '/a',
      prefix: '/shop',
      signingSecret,
      onPayment(callback, { tx, signal }) {
        expectTypeOf(callback).toEqualTypeOf<VerifiedCallback>();
        expectTypeOf(tx).toEqualTypeOf<unknown>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      },
    });
    await app5.register(async (scope) => {
      scope.register(callbackPlugin, { path: '/b', ...options });
    });
    await app4.ready();
    await app5.ready();
  });

  it('gives onPayment the transaction that is named', async () => {
    const app4 = fastify4();
    app4.register(callbackPlugin<Transaction>, {
      path: '/a',
      signingSecret,
      store,
      onPayment(_callback, { tx }) {
        expectTypeOf(tx).toEqualTypeOf<Transaction>();
      },
    });
    const app5 = fastify();
    app5.register(callbackPlugin<Transaction>, {
      path: '/a',
      signingSecret,
      store,
      onPayment(_callback, { tx }) {
        expectTypeOf(tx).toEqualTypeOf<Transaction>();
      },
    });
    app5.register(callbackPlugin, {
      path: '/b',
      signingSecret,
      store,
      onPayment: (_callback, { tx }: StoreContext<Transaction>) => tx.query('select 1'),
    });
    app5.register(callbackPlugin, {
      path: '/c',
      signingSecret,
      store,
      // @ts-expect-error unknown: Fastify's types infer nothing from the store
      onPayment: (_callback, { tx }) => tx.query('select 1'),
    });
    app5.register(callbackPlugin<Transaction>, {
      path: '/d',
      signingSecret,
      // @ts-expect-error a store without transactions
      store: memoryStore(),
      onPayment: (_callback, { tx }) => tx.query('select 1'),
    });
    await app4.ready();
    await app5.ready();
  });

  it('does not take wrong options', async () => {
    const app = fastify();
    // @ts-expect-error path is missing
    app.register(callbackPlugin, options);
    await expect(app.ready()).rejects.toThrow('path');
    // @ts-expect-error onPayment is missing
    expectTypeOf(fastify().register(callbackPlugin, { path: '/a', signingSecret })).toBeObject();
    // @ts-expect-error a route
    expectTypeOf(fastify4().register(callbackPlugin, { ...options, path: 7 })).toBeObject();
  });
});

describe('the handler for Fetch', () => {
  it('is what Hono, Next.js, SvelteKit, Bun, Deno and Workers call', () => {
    const handler = web.callbackHandler(options);
    const app = new Hono()
      .post('/a', (context) => handler(context.req.raw))
      .post('/b', (context) => handler(context))
      .post('/c', handler);
    expect(createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false })).toBeDefined();
    expectTypeOf(handler).toExtend<(request: Request) => Promise<Response>>();
    expectTypeOf(handler.idle).toEqualTypeOf<() => Promise<void>>();
    interface NextRequest extends Request {
      nextUrl: URL;
    }
    type NextRoute = (request: NextRequest, context: { params: Promise<object> }) => unknown;
    expectTypeOf(handler).toExtend<NextRoute>();
    type SvelteKitRoute = (event: { request: Request }) => Response | Promise<Response>;
    expectTypeOf(handler).toExtend<SvelteKitRoute>();
    expectTypeOf({ fetch: handler }).toExtend<{
      fetch(request: Request, env: object, context: object): Response | Promise<Response>;
    }>();
  });
});

describe('the handler for Lambda', () => {
  const handler = lambda.callbackHandler(options);
  type LambdaEvent = Parameters<typeof handler>[0];

  it('takes the events of every gateway', () => {
    expectTypeOf<APIGatewayProxyEvent>().toExtend<LambdaEvent>();
    expectTypeOf<APIGatewayProxyEventV2>().toExtend<LambdaEvent>();
    expectTypeOf<LambdaFunctionURLEvent>().toExtend<LambdaEvent>();
    expectTypeOf<ALBEvent>().toExtend<LambdaEvent>();
    expectTypeOf<{ Records: object[] }>().not.toExtend<LambdaEvent>();
  });

  it('is a handler of every gateway', () => {
    const rest: APIGatewayProxyHandler = handler;
    const http: APIGatewayProxyHandlerV2 = handler;
    const url: LambdaFunctionURLHandler = handler;
    const alb: ALBHandler = handler;
    expectTypeOf<Awaited<ReturnType<typeof handler>>>().toExtend<ALBResult>();
    expect([rest, http, url, alb]).toEqual([handler, handler, handler, handler]);
  });
});
