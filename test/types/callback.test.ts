import { createSecretKey, type webcrypto } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import {
  type CallbackHeaders,
  type CallbackRequest,
  callbackKey,
  createAsyncCallbackVerifier,
  createCallbackVerifier,
  type PaymentStatusRecord,
  type RawBody,
  type SigningSecret,
  type StandardSchemaV1,
  type VerifiedCallback,
  type VerifyCallbackOptions,
  verifyCallback,
  verifyCallbackAsync,
} from '../../src/callback/index.js';
import type * as root from '../../src/index.js';
import type { DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import { signCallback } from '../../src/testing/sign-callback.js';
import { now, SECRET, sampleRecord, sampleRequest } from '../callback/sample-callback.js';

describe('the status of a record', () => {
  it('takes any text', () => {
    const record: PaymentStatusRecord = { ...sampleRecord(), status: 'refunded' };
    expectTypeOf(record.status).toExtend<string>();
    expectTypeOf<string>().toExtend<PaymentStatusRecord['status']>();
    // @ts-expect-error a status is text
    const wrong: PaymentStatusRecord = { ...sampleRecord(), status: 7 };
    expect(wrong.status).toBe(7);
  });

  it("completes 'paid': the literal is still in the union", () => {
    expectTypeOf<Extract<PaymentStatusRecord['status'], 'paid'>>().toEqualTypeOf<'paid'>();
    // With plain `string` in place of `string & {}` the literal would be swallowed.
    expectTypeOf<Extract<string, 'paid'>>().toBeNever();
    const describeStatus = ({ status }: PaymentStatusRecord) =>
      status === 'paid' ? 'paid' : `other: ${status}`;
    expect(describeStatus(sampleRecord())).toBe('paid');
  });

  it('does not let a record without its fields pass', () => {
    // @ts-expect-error updatedAt is part of the key
    const partial: PaymentStatusRecord = { referenceNumber: 'r', status: 'paid' };
    expect(() => callbackKey(partial)).toThrow(
      'updatedAt is missing, and must be a non-empty string',
    );
  });
});

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

  it('takes text and bytes, and no parsed body', () => {
    expectTypeOf<string>().toExtend<RawBody>();
    expectTypeOf<Buffer>().toExtend<RawBody>();
    expectTypeOf<Uint8Array<ArrayBufferLike>>().toExtend<RawBody>();
    expectTypeOf<ArrayBuffer>().toExtend<RawBody>();
    expectTypeOf<Record<string, unknown>>().not.toExtend<RawBody>();
    expectTypeOf<undefined>().not.toExtend<RawBody>();
    expectTypeOf<Uint16Array>().not.toExtend<RawBody>();
  });

  it('is what a Fetch Request has', async () => {
    const request = new Request('http://localhost/', { method: 'POST', body: '{}' });
    const fromFetch = { rawBody: await request.arrayBuffer(), headers: request.headers };
    expectTypeOf(fromFetch).toExtend<CallbackRequest>();
    expect(() => verifyCallback(fromFetch, { signingSecret: SECRET })).toThrow('X-Timestamp');
  });
});

describe('the options', () => {
  const options: VerifyCallbackOptions = { signingSecret: SECRET, now };

  it('reject names and values that do not exist', () => {
    // @ts-expect-error the unit is part of the name: toleranceSeconds
    expect(() => verifyCallback(sampleRequest(), { ...options, tolerance: 300 })).toThrow(
      'tolerance is not a known option; use toleranceSeconds',
    );
    // @ts-expect-error the option is called signingSecret
    expect(() => verifyCallback(sampleRequest(), { secret: SECRET })).toThrow('signingSecret');
    // @ts-expect-error a number
    expect(() => createCallbackVerifier({ ...options, toleranceSeconds: '300' })).toThrow();
    // @ts-expect-error one of four
    expect(() => createCallbackVerifier({ ...options, signatureEncoding: 'latin1' })).toThrow();
    // @ts-expect-error one of two
    expect(() => createCallbackVerifier({ ...options, timestampUnit: 'ms' })).toThrow();
    // @ts-expect-error epoch milliseconds, not a Date
    createCallbackVerifier({ ...options, now: () => new Date() });
    // @ts-expect-error a Standard Schema
    expect(() => createCallbackVerifier({ ...options, recordSchema: () => true })).toThrow();
  });

  it('take every kind of secret, one or several, also read-only', () => {
    expectTypeOf(createSecretKey(SECRET, 'utf8')).toExtend<SigningSecret>();
    expectTypeOf<Buffer>().toExtend<SigningSecret>();
    expectTypeOf<readonly ['new', Buffer]>().toExtend<VerifyCallbackOptions['signingSecret']>();
    expectTypeOf<webcrypto.CryptoKey>().toExtend<SigningSecret>();
    expectTypeOf<number>().not.toExtend<SigningSecret>();
    expectTypeOf<string | undefined>().not.toExtend<VerifyCallbackOptions['signingSecret']>();
  });

  it('take explicit undefined, as a configuration object gives it', () => {
    const configured: VerifyCallbackOptions = {
      signingSecret: SECRET,
      toleranceSeconds: undefined,
      signatureEncoding: undefined,
      timestampUnit: undefined,
      now: undefined,
      recordSchema: undefined,
    };
    expect(createCallbackVerifier(configured)).toBeTypeOf('function');
  });

  it('take schemas of zod and zod/mini as recordSchema', () => {
    const schemas: StandardSchemaV1[] = [
      z.object({ status: z.string() }),
      z.looseObject({ amount: z.number().optional() }),
      mini.object({ status: mini.string() }),
    ];
    for (const recordSchema of schemas)
      verifyCallback(sampleRequest(), { ...options, recordSchema });
    verifyCallback(sampleRequest(), {
      ...options,
      recordSchema: z.object({ status: z.enum(['paid']) }),
    });
    expect(schemas).toHaveLength(3);
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
  it('are what the contract says', () => {
    expectTypeOf(verifyCallback).returns.toEqualTypeOf<VerifiedCallback>();
    expectTypeOf(createCallbackVerifier).returns.toEqualTypeOf<
      (request: CallbackRequest) => VerifiedCallback
    >();
    expectTypeOf(callbackKey).returns.toEqualTypeOf<string>();
    expectTypeOf<VerifiedCallback>().toEqualTypeOf<{
      payment: PaymentStatusRecord;
      key: string;
      timestamp: Date;
      secretIndex: number;
      rawBody: Uint8Array<ArrayBuffer>;
    }>();
    expect(verifyCallback(sampleRequest(), { signingSecret: SECRET, now }).secretIndex).toBe(0);
  });

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

  it('of the asynchronous verifier are the same, as promises', () => {
    expectTypeOf(verifyCallbackAsync).returns.toEqualTypeOf<Promise<VerifiedCallback>>();
    expectTypeOf(createAsyncCallbackVerifier).returns.toEqualTypeOf<
      (request: CallbackRequest) => Promise<VerifiedCallback>
    >();
  });

  it('and the parameters are the same from the root', () => {
    expectTypeOf<typeof root.verifyCallback>().toEqualTypeOf<typeof verifyCallback>();
    expectTypeOf<root.VerifyCallbackOptions>().toEqualTypeOf<VerifyCallbackOptions>();
    expectTypeOf<root.VerifiedCallback>().toEqualTypeOf<VerifiedCallback>();
  });
});
