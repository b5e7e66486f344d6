import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ApiError, ResponseError } from '../../src/errors.js';
import { JSON_TYPE, sized } from './answer-bytes.js';
import {
  apiSecret,
  createClient,
  failureOf,
  httpAnswer,
  noRetries,
  order,
  record,
  schemaOf,
  startRawServer,
  transports,
} from './raw-server.js';

async function answered(answer: string | Buffer, options = {}): Promise<ApiError> {
  const server = await startRawServer({ answer: () => answer });
  const client = createClient(server.url, { ...noRetries, ...options });
  const error = await failureOf(client.payments.create(order));
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

const toldBy = async (body: unknown): Promise<string | undefined> =>
  (await answered(httpAnswer(422, body))).message.match(/with 422(?: \((.*)\))?\. The/)?.[1];

describe('the message of an error has what the service says', () => {
  it.each<[string, unknown, string | undefined]>([
    ['of the interface', { code: 'TOO_SMALL', message: 'Too small.' }, 'TOO_SMALL: Too small.'],
    ['with a number for a code', { code: 4711, message: 'No.' }, '4711: No.'],
    ['nowhere', { anything: 'else', status: 422 }, undefined],
    ['in fields of a prototype alone', '{"__proto__":{"message":"no"}}', undefined],
  ])('%s', async (_where, body, told) => {
    expect(await toldBy(body)).toBe(told);
  });

  it.each<[string, string]>([
    ['a message that is no text', '{"message":[{"toString":1}],"code":{}}'],
    ['a message without end', `{"message":${'['.repeat(9_000)}${']'.repeat(9_000)}}`],
    ['null', 'null'],
  ])('or not, but the call ends by what was answered: %s', async (_what, body) => {
    expect(await answered(httpAnswer(422, body))).toMatchObject({
      httpStatus: 422,
      requestOutcome: 'rejected',
    });
  });
});

describe('requestId', () => {
  it.each<[string, unknown, Record<string, string>, string | undefined]>([
    ['of the body', { requestId: 'b-1' }, { 'x-request-id': 'h-1' }, 'b-1'],
    ['of the body, as a number', { requestId: 17 }, {}, '17'],
    ['of x-request-id', {}, { 'x-request-id': 'h-1', 'request-id': 'h-2' }, 'h-1'],
    ['of request-id', { requestId: ' ' }, { 'request-id': 'h-2', 'cf-ray': 'h-3' }, 'h-2'],
    ['of cf-ray', {}, { 'cf-ray': '7d-FRA' }, '7d-FRA'],
    ['without secrets', {}, { 'x-request-id': `${apiSecret}.` }, '[redacted].'],
    ['shortened', {}, { 'x-request-id': 'x'.repeat(200) }, `${'x'.repeat(128)}…`],
    ['of nowhere', {}, { 'x-other': '1' }, undefined],
    ['of nowhere: the body is a number', 7, {}, undefined],
    ['of nowhere: the body is null', null, {}, undefined],
    ['of nowhere: that of the body is a list', { requestId: [7] }, {}, undefined],
  ])('is that %s', async (_where, body, headers, requestId) => {
    for (const { options } of transports) {
      const error = await answered(httpAnswer(500, body, headers), options);
      expect(error.requestId).toBe(requestId);
    }
  });

  it('is that of the first of two headers', async () => {
    const answer = sized(500, '', 'x-request-id: a', 'x-request-id: b');
    expect((await answered(answer)).requestId).toBe('a');
  });

  it('of a success is in the log too', async () => {
    const fields: object[] = [];
    const log = (given: object) => void fields.push(given);
    const logger = { debug: log, info: log, warn: log, error: log };
    const answer = httpAnswer(201, record, { 'x-request-id': 'h-1' });
    const server = await startRawServer({ answer: () => answer });
    await createClient(server.url, { logger }).payments.create(order);
    expect(fields).toMatchObject([{ requestId: 'h-1' }]);
  });
});

describe.each(transports)('error.response, with $name,', ({ options }) => {
  const body = '{"code":"NO","amount":12345678901234567890}';

  it('is the answer as it was received', async () => {
    const error = await answered(httpAnswer(422, body, { 'x-a': '1' }), options);
    expect(error.response).toMatchObject({
      status: 422,
      headers: { 'x-a': '1' },
      body: { code: 'NO' },
      text: body,
      attempts: 1,
    });
  });

  it('has what arrived of a body that broke off or is too large', async () => {
    const cut = await startRawServer({
      answer: ({ socket }) =>
        void socket.end(`HTTP/1.1 201 Text\r\n${JSON_TYPE}\r\ncontent-length: 99\r\n\r\n{"refer`),
    });
    const lost = await failureOf(createClient(cut.url, options).payments.create(order));
    expect((lost as ResponseError).response).toMatchObject({ status: 201, text: '{"refer' });
    const large = await startRawServer({
      answer: () => `HTTP/1.1 404 Text\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`,
    });
    const client = createClient(large.url, { ...options, maxResponseBytes: 2 });
    const error = (await failureOf(client.payments.create(order))) as ApiError;
    expect(error.response.status).toBe(404);
    expect(error.response.text.length).toBeLessThanOrEqual(2);
  });

  it('of an answer that the schema refuses has the payment', async () => {
    const server = await startRawServer({ answer: () => httpAnswer(201, record) });
    const issues = [{ message: 'no' }];
    const schemas = [
      () => ({ issues }),
      () => {
        throw new Error('broken');
      },
    ];
    for (const validate of schemas) {
      const responseSchema = schemaOf(validate);
      const call = createClient(server.url, options).payments.create(order, { responseSchema });
      const error = (await failureOf(call)) as ResponseError;
      expect(error).toBeInstanceOf(ResponseError);
      expect(error.response).toMatchObject({ status: 201, body: record });
    }
  });

  it('is no field of the error', async () => {
    const error = await answered(httpAnswer(422, { secret: 'hunter2' }), options);
    expect(Object.getOwnPropertyNames(error)).not.toContain('response');
    expect({ ...error }).not.toHaveProperty('response');
    expect(inspect(error, { showHidden: true, depth: null })).not.toContain('hunter2');
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(structuredClone(error)).not.toHaveProperty('response');
  });
});

it('an answer that was not HTTP has no response', async () => {
  const server = await startRawServer({
    answer: ({ socket }) => void socket.end('SSH-2.0\r\n\r\n'),
  });
  const error = await failureOf(createClient(server.url).payments.create(order));
  expect(error).toBeInstanceOf(ResponseError);
  expect((error as ResponseError).response).toBeUndefined();
});
