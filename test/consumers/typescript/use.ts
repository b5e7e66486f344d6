// The main types of every subpath whose peers need not be installed.

import { createSecretKey } from 'node:crypto';
import {
  ApiError,
  PaymentClient,
  type PaymentClientOptions,
  type RequestOutcome,
  type VerifiedCallback,
  verifyCallback,
} from 'merchant-payments';
import {
  createCallbackVerifier,
  type SigningSecret,
  verifyCallbackAsync,
} from 'merchant-payments/callback';
import { callbackPlugin } from 'merchant-payments/fastify';
import { callbackHandler as fetchHandler } from 'merchant-payments/fetch';
import { callbackHandler as lambdaHandler } from 'merchant-payments/lambda';
import { type Fault, startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import { postgresStore, type Queryable } from 'merchant-payments/postgres';
import { type CallbackReply, createCallbackReceiver } from 'merchant-payments/receiver';
import { redisStore } from 'merchant-payments/redis';
import { sqliteStore } from 'merchant-payments/sqlite';
import { type CallbackStore, memoryStore, type PaymentStore } from 'merchant-payments/store';
import { checkCallbackEndpoint, diagnoseCallback, signCallback } from 'merchant-payments/testing';
import { Agent, MockAgent } from 'undici-8';

declare const postgres: CallbackStore<Queryable>;

export async function useAll(): Promise<unknown[]> {
  const service = await startMockServer();
  const fault: Fault = { on: 'callback', type: 'duplicate' };
  service.faults.add(fault);
  const { url: baseUrl, apiKey, apiSecret, signingSecret } = service;
  const options: PaymentClientOptions = { baseUrl, apiKey, apiSecret, logger: console };
  const client = new PaymentClient(options);
  const order = { merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR' };
  const { payment, response } = await client.payments.create(order, { timeoutMs: 1000 });
  const reference: string | undefined = payment.referenceNumber;
  const status: number = response.status;
  const callback = signCallback({ payment: { status: 'paid' }, signingSecret });
  const verified: VerifiedCallback = verifyCallback(callback, { signingSecret });
  const secret: SigningSecret = createSecretKey(Buffer.from(signingSecret));
  createCallbackVerifier({ signingSecret: [secret, signingSecret] })(callback);
  await verifyCallbackAsync(callback, { signingSecret });
  const store: CallbackStore = memoryStore();
  const payments: PaymentStore = memoryStore({ client });
  for await (const { kind } of payments.attention()) console.log(kind);
  const handling = { signingSecret, store, onPayment: () => undefined };
  const reply: CallbackReply = await createCallbackReceiver(handling).receive({
    method: 'POST',
    ...callback,
  });
  const { statusCode } = await lambdaHandler(handling)({ body: '' });
  const answered: number = statusCode;
  callbackHandler({
    signingSecret,
    store: postgres,
    async onPayment({ key }, { tx }) {
      const queryable: Queryable = tx;
      await queryable.query(key);
    },
  });
  return [
    reference,
    status,
    verified.key,
    reply.outcome,
    answered,
    fetchHandler(handling),
    callbackPlugin,
    postgresStore,
    redisStore,
    sqliteStore,
    checkCallbackEndpoint,
    diagnoseCallback,
  ];
}

export function outcomeOf(error: unknown): RequestOutcome | undefined {
  return error instanceof ApiError ? error.requestOutcome : undefined;
}

// A test's double.
export const double: Pick<PaymentClient, 'payments'> = {
  payments: {
    create: async ({ merchantPaymentReference }) => ({
      payment: { merchantPaymentReference, referenceNumber: 'r-1' },
      response: { status: 201, headers: {}, body: {}, text: '', attempts: 1 },
    }),
  },
};

// Their types are not those of the undici that the package depends on.
export const dispatchers: PaymentClientOptions['dispatcher'][] = [new Agent(), new MockAgent()];

// A type that fell back to `any` would accept these.
// @ts-expect-error: a number is no signing secret
export const wrongSecret: SigningSecret = 1;
// @ts-expect-error: a dispatcher has methods
export const wrongDispatcher: PaymentClientOptions['dispatcher'] = 'proxy';
// @ts-expect-error: a request and a response of node:http
callbackHandler({ signingSecret: 'secret', onPayment: () => undefined })(1, 2);
