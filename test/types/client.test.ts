import { Agent, Dispatcher, MockAgent, ProxyAgent } from 'undici';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import {
  type CreatePaymentInput,
  type CreatePaymentResult,
  type Logger,
  PaymentClient,
  type PaymentClientOptions,
  type PaymentStatusRecord,
  type StandardSchemaV1,
} from '../../src/index.js';

const options = { baseUrl: 'https://pay.example', apiKey: 'key', apiSecret: 'secret' };

/** For the compiler alone: the calls inside are checked and never made. */
function compileOnly(_use: (client: PaymentClient) => unknown): void {
  expect(_use).toBeTypeOf('function');
}

const input: CreatePaymentInput = {
  merchantPaymentReference: 'order-1001',
  amount: 2500,
  currency: 'EUR',
};

describe('payments.create', () => {
  it('answers a payment whose fields may be missing, and unknown ones', () => {
    compileOnly(async (client) => {
      const result = await client.payments.create(input);
      expectTypeOf(result).toEqualTypeOf<CreatePaymentResult>();
      expectTypeOf(result.payment.referenceNumber).toEqualTypeOf<string | undefined>();
      expectTypeOf(result.payment.status).toEqualTypeOf<
        PaymentStatusRecord['status'] | undefined
      >();
      expectTypeOf(result.payment['redirectUrl']).toBeUnknown();
      expectTypeOf(result.response.body).toBeUnknown();
      expectTypeOf(result.response.status).toBeNumber();
      expectTypeOf(result.response.attempts).toBeNumber();
      expectTypeOf(result.response.headers['x-request-id']).toEqualTypeOf<
        string | string[] | undefined
      >();
    });
  });

  it('types the fields of the payment by what the schema takes, which is not converted', () => {
    compileOnly(async (client) => {
      const responseSchema = z.object({
        redirectUrl: z.string(),
        at: z.string().transform(Number),
      });
      const { payment, response } = await client.payments.create(input, { responseSchema });
      expectTypeOf(payment.redirectUrl).toEqualTypeOf<string>();
      expectTypeOf(payment.at).toEqualTypeOf<string>();
      expectTypeOf(payment.status).toEqualTypeOf<PaymentStatusRecord['status'] | undefined>();
      expectTypeOf(payment['other']).toBeUnknown();
      expectTypeOf(response.body.at).toEqualTypeOf<number>();
      const required = z.object({ referenceNumber: z.string() });
      const second = await client.payments.create(input, { responseSchema: required });
      expectTypeOf(second.payment.referenceNumber).toEqualTypeOf<string>();
    });
  });

  it('types response.body by a schema made by hand', () => {
    compileOnly(async (client) => {
      const byHand: StandardSchemaV1<unknown, { id: bigint }> = {
        '~standard': { version: 1, vendor: 'me', validate: () => ({ value: { id: 1n } }) },
      };
      const { payment, response } = await client.payments.create(input, { responseSchema: byHand });
      expectTypeOf(response.body).toEqualTypeOf<{ id: bigint }>();
      expectTypeOf(payment).toEqualTypeOf<CreatePaymentResult['payment']>();
    });
  });
});

describe('request', () => {
  it('types the body by a schema', () => {
    compileOnly(async (client) => {
      const responseSchema = z.array(z.object({ id: z.string() }));
      const request = { method: 'GET', path: '/api/payments' };
      const { body } = await client.request(request, { responseSchema });
      expectTypeOf(body).toEqualTypeOf<{ id: string }[]>();
    });
  });
});

describe('the options of a client', () => {
  it('take console as logger, and anything with its four methods', () => {
    expectTypeOf(console).toExtend<Logger>();
    expectTypeOf(console).toExtend<PaymentClientOptions['logger']>();
    // pino's: overloads that begin with an object.
    interface PinoLike {
      (fields: object, message?: string, ...values: unknown[]): void;
      (message: string, ...values: unknown[]): void;
    }
    expectTypeOf<Record<'debug' | 'info' | 'warn' | 'error', PinoLike>>().toExtend<Logger>();
    expectTypeOf<Pick<Console, 'log'>>().not.toExtend<Logger>();
    expect(new PaymentClient({ ...options, logger: console })).toBeInstanceOf(PaymentClient);
  });

  it('take every dispatcher of undici', () => {
    expectTypeOf<Dispatcher>().toExtend<PaymentClientOptions['dispatcher']>();
    expectTypeOf<Agent>().toExtend<PaymentClientOptions['dispatcher']>();
    expectTypeOf<ProxyAgent>().toExtend<PaymentClientOptions['dispatcher']>();
    expectTypeOf<MockAgent>().toExtend<PaymentClientOptions['dispatcher']>();
    expect(
      [Agent, ProxyAgent, MockAgent].every((agent) => agent.prototype instanceof Dispatcher),
    ).toBe(true);
  });

  it('take the global fetch, and a base URL as text or URL', () => {
    expectTypeOf(fetch).toExtend<PaymentClientOptions['fetch']>();
    const client = new PaymentClient({
      ...options,
      baseUrl: new URL('https://pay.example/prefix'),
      fetch: globalThis.fetch,
    });
    expect(JSON.stringify(client)).toContain('https://pay.example/prefix');
  });

  it('make a client that await using closes', async () => {
    expectTypeOf<PaymentClient>().toExtend<AsyncDisposable>();
    await using client = new PaymentClient(options);
    expect(client.payments.create).toBeTypeOf('function');
  });
});
