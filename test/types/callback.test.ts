import { createSecretKey, type webcrypto } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import {
  type CallbackHeaders,
  createAsyncCallbackVerifier,
  createCallbackVerifier,
  type PaymentStatusRecord,
  type SigningSecret,
  type VerifiedCallback,
  type VerifyCallbackOptions,
  verifyCallback,
  verifyCallbackAsync,
} from '../../src/callback/index.js';
import type { DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import { signCallback } from '../../src/testing/sign-callback.js';
import { now, SECRET, sampleRecord, sampleRequest } from '../callback/sample-callback.js';

describe('the request', () => {
  it('takes the headers of every framework', () => {
    expectTypeOf<IncomingHttpHeaders>().toExtend<CallbackHeaders>();
    expectTypeOf<IncomingMessage['headersDistinct']>().toExtend<CallbackHeaders>();
    expectTypeOf<Headers>().toExtend<CallbackHeaders>();
    expectTypeOf<Map<string, string>>().toExtend<CallbackHeaders>();
    expectTypeOf<[string, string][]>().toExtend<CallbackHeaders>();
    expectTypeOf<readonly (readonly [string, string])[]>().toExtend<CallbackHeaders>();
    expectTypeOf<Generator<[string, string]>>().toExtend<CallbackHeaders>();
    expectTypeOf<Record<string, string | string[] | undefined>>().toExtend<CallbackHeaders>();
    // AWS Lambda: APIGatewayProxyEvent's headers and multiValueHeaders.
    expectTypeOf<{ [name: string]: string | undefined }>().toExtend<CallbackHeaders>();
    expectTypeOf<{ [name: string]: string[] | undefined }>().toExtend<CallbackHeaders>();
  });

  it('does not take what is no collection of headers', () => {
    expectTypeOf<string[]>().not.toExtend<CallbackHeaders>();
    expectTypeOf<string>().not.toExtend<CallbackHeaders>();
    expectTypeOf<undefined>().not.toExtend<CallbackHeaders>();
    expectTypeOf<Record<string, number>>().not.toExtend<CallbackHeaders>();
  });
});

describe('the options', () => {
  it('take every kind of secret, one or several, also read-only', () => {
    expectTypeOf(createSecretKey(SECRET, 'utf8')).toExtend<SigningSecret>();
    expectTypeOf<Buffer>().toExtend<SigningSecret>();
    expectTypeOf<readonly ['new', Buffer]>().toExtend<VerifyCallbackOptions['signingSecret']>();
    expectTypeOf<webcrypto.CryptoKey>().toExtend<SigningSecret>();
    expectTypeOf<number>().not.toExtend<SigningSecret>();
    expectTypeOf<string | undefined>().not.toExtend<VerifyCallbackOptions['signingSecret']>();
  });
});

describe('a recordSchema', () => {
  const orders = { ...sampleRecord(), orderId: 'o-7' };
  const request = sampleRequest({ body: JSON.stringify(orders) });

  it('types the payment by what it takes', async () => {
    const recordSchema = z.object({ orderId: z.string().transform(Number) });
    const { payment } = verifyCallback(request, { signingSecret: SECRET, now, recordSchema });
    // The input type: payment stays what was signed.
    expectTypeOf(payment.orderId).toEqualTypeOf<string>();
    expectTypeOf(payment).toExtend<PaymentStatusRecord>();
    expect(payment.orderId).toBe('o-7');
    const verify = createCallbackVerifier({ signingSecret: SECRET, now, recordSchema });
    expectTypeOf(verify(request).payment.orderId).toEqualTypeOf<string>();
    const awaited = await verifyCallbackAsync(request, {
      signingSecret: SECRET,
      now,
      recordSchema,
    });
    expectTypeOf(awaited.payment.orderId).toEqualTypeOf<string>();
    const verifyLater = createAsyncCallbackVerifier({ signingSecret: SECRET, recordSchema });
    expectTypeOf(verifyLater).returns.resolves.toExtend<VerifiedCallback<{ orderId: string }>>();
  });

  it('of zod/mini does so too, and narrows the status', () => {
    const recordSchema = mini.object({ status: mini.enum(['paid', 'refunded']) });
    const { payment } = verifyCallback(request, { signingSecret: SECRET, now, recordSchema });
    expectTypeOf(payment.status).toEqualTypeOf<'paid' | 'refunded'>();
    expect(payment.status).toBe('paid');
  });

  it('that is not there adds no fields, whatever the result is taken for', () => {
    const { payment } = verifyCallback(request, { signingSecret: SECRET, now });
    // @ts-expect-error not a field of the interface
    expect(payment.orderId).toBe('o-7');
    // @ts-expect-error nothing has checked it
    const taken: VerifiedCallback<{ orderId: string }> = verifyCallback(request, options());
    expect(taken.payment.orderId).toBe('o-7');
  });

  const options = () => ({ signingSecret: SECRET, now });
});

describe('the results', () => {
  it('have bytes that fetch, Blob and WebCrypto take', async () => {
    const { rawBody } = verifyCallback(sampleRequest(), { signingSecret: SECRET, now });
    expect(await new Response(rawBody).json()).toEqual(sampleRecord());
    expect(new Blob([rawBody]).size).toBe(rawBody.byteLength);
    const digest = await crypto.subtle.digest('SHA-256', rawBody);
    expect(digest.byteLength).toBe(32);
    const signed = signCallback({ payment: {}, signingSecret: SECRET });
    expect(await new Response(signed.rawBody).json()).toMatchObject({ status: 'paid' });
    expectTypeOf<DeliveryAttempt['rawBody']>().toEqualTypeOf<Uint8Array<ArrayBuffer>>();
  });
});
