import { Agent, Dispatcher, MockAgent, ProxyAgent } from 'undici';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import {
  type CreatePaymentInput,
  type CreatePaymentResult,
  type Logger,
  PaymentClient,
  type PaymentClientOptions,
  type PaymentStatusRecord,
  type RequestOptions,
  type ServiceRequest,
  type ServiceResponse,
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
  it('takes the three fields and no other', () => {
    expectTypeOf<CreatePaymentInput>().toEqualTypeOf<{
      merchantPaymentReference: string;
      amount: number;
      currency: string;
    }>();
    compileOnly((client) => [
      client.payments.create(input),
      // @ts-expect-error all three are sent
      client.payments.create({ amount: 1, currency: 'EUR' }),
      // @ts-expect-error an amount is a number
      client.payments.create({ ...input, amount: '2500' }),
      // @ts-expect-error other fields go into extraBody
      client.payments.create({ ...input, description: 'x' }),
      client.payments.create(input, { extraBody: { description: 'x' } }),
    ]);
  });

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

  it('types response.body by a zod schema', () => {
    compileOnly(async (client) => {
      const responseSchema = z.object({ id: z.string(), at: z.string().transform(Number) });
      const { response } = await client.payments.create(input, { responseSchema });
      expectTypeOf(response.body).toEqualTypeOf<{ id: string; at: number }>();
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

  it('types response.body by a schema of zod/mini, and by one made by hand', () => {
    compileOnly(async (client) => {
      const small = mini.object({ id: mini.string() });
      const first = await client.payments.create(input, { responseSchema: small });
      expectTypeOf(first.response.body).toEqualTypeOf<{ id: string }>();

      const byHand: StandardSchemaV1<unknown, { id: bigint }> = {
        '~standard': { version: 1, vendor: 'me', validate: () => ({ value: { id: 1n } }) },
      };
      const second = await client.payments.create(input, { responseSchema: byHand });
      expectTypeOf(second.response.body).toEqualTypeOf<{ id: bigint }>();
      expectTypeOf(second.payment).toEqualTypeOf<CreatePaymentResult['payment']>();
    });
  });
});

describe('request', () => {
  it('takes method, path and any body', () => {
    expectTypeOf<ServiceRequest>().toEqualTypeOf<{
      method: string;
      path: string;
      body?: unknown;
    }>();
    compileOnly(async (client) => {
      const response = await client.request({ method: 'GET', path: '/api/payments/1' });
      expectTypeOf(response).toEqualTypeOf<ServiceResponse>();
      // @ts-expect-error a path is needed
      client.request({ method: 'GET' });
    });
  });

  it('types the body by a schema', () => {
    compileOnly(async (client) => {
      const responseSchema = z.array(z.object({ id: z.string() }));
      const request = { method: 'GET', path: '/api/payments' };
      const { body } = await client.request(request, { responseSchema });
      expectTypeOf(body).toEqualTypeOf<{ id: string }[]>();
    });
  });
});

describe('the options of a call', () => {
  it('take an AbortSignal and explicit undefined, and no other names', () => {
    const call: RequestOptions = {
      signal: AbortSignal.abort(),
      timeoutMs: undefined,
      maxRetries: 0,
      extraBody: undefined,
      responseSchema: undefined,
    };
    expect(call.maxRetries).toBe(0);
    compileOnly((client) => [
      client.payments.create(input, call),
      // @ts-expect-error the unit is part of the name: timeoutMs
      client.payments.create(input, { timeout: 1000 }),
      // @ts-expect-error a number
      client.payments.create(input, { maxRetries: '2' }),
    ]);
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

  it('reject names and values that do not exist', () => {
    // @ts-expect-error the secret is needed
    expect(() => new PaymentClient({ baseUrl: 'https://pay.example', apiKey: 'key' })).toThrow();
    // @ts-expect-error the unit is part of the name: timeoutMs
    expect(() => new PaymentClient({ ...options, timeout: 1000 })).toThrow('use timeoutMs');
    // @ts-expect-error a number
    expect(() => new PaymentClient({ ...options, maxRetries: '2' })).toThrow('maxRetries');
    // @ts-expect-error true or false
    expect(() => new PaymentClient({ ...options, dangerouslyAllowHttp: 1 })).toThrow();
    // @ts-expect-error the name of a header is in an object
    expect(() => new PaymentClient({ ...options, idempotency: 'idempotency-key' })).toThrow();
  });

  it('take either way to recognise a repeated creation', () => {
    const ways: PaymentClientOptions['idempotency'][] = [
      { header: 'idempotency-key' },
      'merchantPaymentReference',
      undefined,
    ];
    for (const idempotency of ways) new PaymentClient({ ...options, idempotency });
  });

  it('take functions for the credentials, and headers', () => {
    const fromStore = async (): Promise<string> => 'secret';
    const given: PaymentClientOptions = {
      baseUrl: 'https://pay.example',
      apiKey: () => 'key',
      apiSecret: fromStore,
      headers: { 'api-version': '1' },
    };
    expect(new PaymentClient(given)).toBeInstanceOf(PaymentClient);
    // @ts-expect-error a text, or a promise of one
    expect({ ...given, apiKey: () => 7 } satisfies PaymentClientOptions).toBeDefined();
    // @ts-expect-error a header's value is text
    expect({ headers: { a: 7 } } satisfies RequestOptions).toBeDefined();
  });

  it('may be left to the environment', () => {
    expectTypeOf(PaymentClient.fromEnv)
      .parameter(0)
      .toEqualTypeOf<Partial<PaymentClientOptions> | undefined>();
    expectTypeOf(process.env).toExtend<Parameters<typeof PaymentClient.fromEnv>[1]>();
    expectTypeOf(PaymentClient.fromEnv).returns.toEqualTypeOf<PaymentClient>();
    expect(PaymentClient.fromEnv(options, {})).toBeInstanceOf(PaymentClient);
  });

  it('make a client that await using closes', async () => {
    expectTypeOf<PaymentClient>().toExtend<AsyncDisposable>();
    await using client = new PaymentClient(options);
    expect(client.payments.create).toBeTypeOf('function');
  });
});
