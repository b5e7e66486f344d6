import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { RequestOptions } from '../../src/client/options.js';
import type { PaymentClient } from '../../src/client/payment-client.js';
import type { CreatePaymentResult } from '../../src/client/response.js';
import { InvalidRequestError } from '../../src/errors.js';
import { PREPARE_CREATION, prepareCreation } from '../../src/protocol/prepared-creation.js';
import { createClient, created, order, record, startRawServer } from './raw-server.js';

const url = 'https://payments.invalid';
const result: CreatePaymentResult = {
  payment: { referenceNumber: 'r-1' },
  response: { status: 201, headers: {}, body: {}, text: '{}', attempts: 1 },
};

describe('a client whose payments.create a test replaces', () => {
  it.each<[string, (client: PaymentClient) => void]>([
    [
      'by a spy of vitest',
      (client) => void vi.spyOn(client.payments, 'create').mockResolvedValue(result),
    ],
    [
      'by a property, as node:test does',
      (client) =>
        void Object.defineProperty(client.payments, 'create', { value: async () => result }),
    ],
  ])('%s sends nothing, by itself and for a store', async (_how, replace) => {
    const client = createClient(url);
    replace(client);
    expect(await client.payments.create(order)).toBe(result);
    expect(await client[PREPARE_CREATION](order, undefined).send(1_000)).toBe(result);
  });

  it('is restored afterwards', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    const spy = vi.spyOn(client.payments, 'create').mockRejectedValue(new Error('down'));
    await expect(client.payments.create(order)).rejects.toThrow('down');
    spy.mockRestore();
    expect((await client.payments.create(order)).payment).toEqual(record);
  });
});

describe('a double that has payments.create alone', () => {
  it('fits the type, with a plain function or a mock', () => {
    const plain: Pick<PaymentClient, 'payments'> = {
      payments: {
        create: async ({ merchantPaymentReference }) => ({
          payment: { merchantPaymentReference, referenceNumber: 'r-1' },
          response: { status: 201, headers: {}, body: { a: 1 }, text: '{"a":1}', attempts: 1 },
        }),
      },
    };
    const mocked: Pick<PaymentClient, 'payments'> = {
      payments: { create: vi.fn(async () => result) },
    };
    expectTypeOf<PaymentClient>().toExtend<Pick<PaymentClient, 'payments'>>();
    expect([plain, mocked]).toHaveLength(2);
  });

  it('is prepared for a store as a client is', async () => {
    const create = vi.fn<(input: object, options?: RequestOptions) => typeof answer>();
    const answer = Promise.resolve(result);
    create.mockReturnValue(answer);
    const double = { payments: { create } };
    const options = { extraBody: { note: 'a' } };
    const ofDouble = prepareCreation(double, order, options);
    const ofClient = prepareCreation(createClient(url), order, { extraBody: { note: 'a' } });
    expect({ ...ofDouble, send: 0 }).toEqual({ ...ofClient, send: 0 });
    expect(() => prepareCreation(double, { ...order, amount: Number.NaN })).toThrow(
      InvalidRequestError,
    );
    expect(await ofDouble.send(5)).toBe(result);
    // It may be a wrapper of a client that repeats what may have been processed.
    expect(create).toHaveBeenCalledWith(order, { ...options, maxRetries: 0, timeoutMs: 5 });
    expect(prepareCreation(double, order, { timeoutMs: 7 }).timeoutMs).toBe(7);
  });
});

it('what a store sends is what was prepared, though its objects have changed', async () => {
  const server = await startRawServer({ answer: () => created });
  const input = { ...order };
  const extraBody = { 7: 'a', list: [1], nested: { b: null } };
  const prepared = createClient(server.url)[PREPARE_CREATION](input, { extraBody });
  input.amount = 1;
  extraBody.list.push(2);
  await prepared.send(5_000);
  expect(server.requests[0]?.body).toBe(prepared.body);
});
