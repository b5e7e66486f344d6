import { describe, expect, expectTypeOf, it } from 'vitest';
import { object, pipe, string, transform } from 'zod';
import { ResponseError } from '../../src/errors.js';
import type { StandardSchemaV1 } from '../../src/protocol/standard-schema.js';
import {
  apiSecret,
  createClient,
  created,
  failureOf,
  holdDeadline,
  httpAnswer,
  order,
  record,
  schemaOf,
  startRawServer,
} from './raw-server.js';

async function create(responseSchema: StandardSchemaV1, answer = created) {
  const server = await startRawServer({ answer: () => answer });
  const client = createClient(server.url, { idempotency: 'merchantPaymentReference' });
  const call = client.payments.create(order, { responseSchema });
  return { call, server };
}

async function refusal(responseSchema: StandardSchemaV1, answer?: string): Promise<ResponseError> {
  const { call, server } = await create(responseSchema, answer);
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ResponseError);
  expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
  expect(error.message).toContain('The service accepted the request: do not send it again.');
  expect(server.requests).toHaveLength(1);
  return error as ResponseError;
}

describe('responseSchema', () => {
  it.each<[string, StandardSchemaV1]>([
    ['at once', schemaOf(() => ({ value: 'output' }))],
    ['later', schemaOf(async () => ({ value: 'output' }))],
  ])(
    'that answers %s gives response.body its output and leaves payment as received',
    async (_when, given) => {
      const { payment, response } = await (await create(given)).call;
      expect(response).toMatchObject({ status: 201, body: 'output', attempts: 1 });
      expect(payment).toEqual(record);
    },
  );

  it('of zod works as it is, and types response.body', async () => {
    const server = await startRawServer({ answer: () => created });
    const responseSchema = pipe(
      object({ referenceNumber: string() }),
      transform(({ referenceNumber }) => ({ id: referenceNumber })),
    );
    const client = createClient(server.url);
    const { response } = await client.payments.create(order, { responseSchema });
    expectTypeOf(response.body).toEqualTypeOf<{ id: string }>();
    expect(response.body).toEqual({ id: record.referenceNumber });
    const answer = await client.request({ method: 'GET', path: '/x' }, { responseSchema });
    expect(answer.body).toEqual({ id: record.referenceNumber });
  });

  it('that finds issues leaves the payment accepted and tells them', async () => {
    const issues = [
      { message: 'must be longer', path: ['items', 0, { key: 'name' }], input: 'planted' },
      { message: 'must be better' },
    ];
    const error = await refusal(schemaOf(() => ({ issues })));
    expect(error.issues).toEqual([
      { path: ['items', 0, 'name'], message: 'must be longer' },
      { path: [], message: 'must be better' },
    ]);
    expect(error.message).toContain(
      'answered with 201, but its body does not fit responseSchema: items.0.name must be longer; must be better.',
    );
  });

  it('whose issues quote credentials and control characters shows none', async () => {
    const issues = [
      { message: `got\u009b\n${apiSecret}`, path: ['a\u0000b', { key: `of ${apiSecret}` }] },
    ];
    const error = await refusal(schemaOf(() => ({ issues })));
    expect(error.issues).toEqual([{ path: ['a b', 'of [redacted]'], message: 'got [redacted]' }]);
    expect(error.message).not.toContain(apiSecret);
  });

  it.each<[string, StandardSchemaV1]>([
    [
      'throws',
      schemaOf(() => {
        throw new Error('hunter2');
      }),
    ],
    ['rejects', schemaOf(() => Promise.reject(new Error('hunter2')))],
    ['answers undefined', schemaOf(() => undefined)],
    ['answers issues that are no list', schemaOf(() => ({ issues: 'hunter2' }))],
    ['answers issues without messages', schemaOf(() => ({ issues: [{}] }))],
  ])('that %s leaves the payment accepted, and what it said out', async (_how, given) => {
    const error = await refusal(given);
    expect(error.message).toContain('responseSchema threw, or returned neither a value nor issues');
    expect(error.message).not.toContain('hunter2');
    expect(error.cause).toBeUndefined();
    expect(error.issues).toBeUndefined();
  });

  it.each([
    ['its deadline passes', 'TIMEOUT'],
    ['its signal is aborted', 'ABORTED'],
  ])('that never settles ends when %s, and leaves the payment accepted', async (_what, code) => {
    const { timeoutMs, expire } = holdDeadline();
    const controller = new AbortController();
    let asked = (): void => {};
    const begun = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const responseSchema = schemaOf(() => {
      asked();
      return new Promise(() => {});
    });
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url, { timeoutMs });
    const { signal } = controller;
    const failure = failureOf(client.payments.create(order, { responseSchema, signal }));
    await begun;
    if (code === 'TIMEOUT') expire();
    else controller.abort();
    expect(await failure).toMatchObject({ code, requestOutcome: 'accepted' });
  });

  it('that finds any number of issues has a hundred of them told', async () => {
    const issues = Array.from({ length: 101 }, (_, index) => ({ message: 'm', path: [index] }));
    const error = await refusal(schemaOf(() => ({ issues })));
    expect(error.issues).toHaveLength(100);
    expect(error.issues?.at(-1)?.path).toEqual([99]);
  });

  it('is not asked about an answer that is no 2xx', async () => {
    let asked = 0;
    const given = schemaOf((value) => {
      asked += 1;
      return { value };
    });
    const { call } = await create(given, httpAnswer(422));
    expect(await failureOf(call)).toMatchObject({ code: 'API_ERROR', httpStatus: 422 });
    expect(asked).toBe(0);
  });
});
