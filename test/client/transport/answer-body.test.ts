import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  completeAnswer,
  isEncoded,
  readInterceptedAnswer,
} from '../../../src/client/transport/answer-body.js';
import type {
  Answer as AnswerRead,
  ResponseHeaders,
} from '../../../src/client/transport/transport.js';
import {
  answerBegun,
  authorization,
  connectionsClosed,
  createClient,
  failureOf,
  holdDeadline,
  httpAnswer,
  order,
  type RawRequest,
  record,
  startRawServer,
  transports,
} from '../raw-server.js';

const json = JSON.stringify(record);
const head = (status: number, lines: string) => `HTTP/1.1 ${status} Text\r\n${lines}\r\n\r\n`;
const chunked = (text: string) =>
  `${head(201, 'transfer-encoding: chunked')}${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
type Answer = (request: RawRequest) => string | undefined;

// Each ends a 2xx before its body is whole.
const lost: readonly { what: string; answer: Answer }[] = [
  {
    what: 'ends before the announced length',
    answer: ({ socket }) => void socket.end(`${head(201, 'content-length: 500')}${json}`),
  },
  {
    what: 'is reset before the announced length',
    answer: ({ socket }) =>
      void socket.write(`${head(201, 'content-length: 500')}${json}`, () =>
        setImmediate(() => socket.resetAndDestroy()),
      ),
  },
  { what: 'ends without the last chunk', answer: ({ socket }) => void socket.end(chunked(json)) },
  { what: 'has garbage for a chunk size', answer: () => `${chunked(json)}garbage\r\n` },
];

const endless = (socket: RawRequest['socket'], chunk: string): undefined => {
  const pump = () => {
    while (!socket.destroyed && socket.write(chunk));
    if (!socket.destroyed) socket.once('drain', pump);
  };
  pump();
  return undefined;
};

const tooLarge: readonly { what: string; answer: Answer }[] = [
  {
    what: 'has a length of more',
    answer: () => head(201, 'content-length: 1000000') + 'a'.repeat(1025),
  },
  {
    what: 'is chunked and has no end',
    answer: ({ socket }) => {
      socket.write(head(201, 'transfer-encoding: chunked'));
      return endless(socket, `400\r\n${'a'.repeat(1024)}\r\n`);
    },
  },
  {
    what: 'has neither length nor end',
    answer: ({ socket }) => {
      socket.write(head(201, 'connection: close'));
      return endless(socket, 'a'.repeat(1024));
    },
  },
];

const encoded = (body: Buffer, encoding: string) =>
  Buffer.concat([
    Buffer.from(
      `${head(201, `content-type: application/json\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}`)}`,
    ),
    body,
  ]);

describe.each(transports)('the body of a 2xx, with $name,', ({ options }) => {
  it.each(lost)(
    'that $what leaves the payment accepted and is not asked for again',
    async ({ answer }) => {
      const server = await startRawServer({ answer });
      const client = createClient(server.url, {
        ...options,
        idempotency: 'merchantPaymentReference',
      });
      const error = await failureOf(client.payments.create(order));
      expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
      expect(error.message).toBe(
        'POST /api/payments was answered with 201, but with a body that broke off. The service accepted the request: do not send it again. (docs/errors.md#calls)',
      );
      // Such as UND_ERR_SOCKET.
      expect(error.cause).toMatchObject({ code: expect.stringMatching(/^[A-Z]/) });
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each(tooLarge)(
    'that $what than maxResponseBytes leaves the payment accepted',
    async ({ answer }) => {
      const server = await startRawServer({ answer });
      const client = createClient(server.url, { ...options, maxResponseBytes: 1024 });
      const error = await failureOf(client.payments.create(order));
      expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
      expect(error.message).toContain('with a body larger than maxResponseBytes');
      expect(server.requests).toHaveLength(1);
      // The rest is not read: the connection ends.
      await connectionsClosed(server);
    },
  );

  it('that stalls until the deadline leaves the payment accepted', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const server = await startRawServer({
      answer: () => `${head(201, 'content-length: 500')}${json}`,
    });
    const client = createClient(server.url, { ...options, timeoutMs });
    const begun = answerBegun();
    const failure = failureOf(client.payments.create(order));
    await begun;
    expire();
    const error = await failure;
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'accepted' });
    expect(error.message).toContain('The service accepted the request: do not send it again.');
  });

  it('that is being read when the signal is aborted leaves the payment accepted', async () => {
    const controller = new AbortController();
    const server = await startRawServer({
      answer: () => `${head(201, 'content-length: 500')}${json}`,
    });
    const client = createClient(server.url, options);
    const begun = answerBegun();
    const failure = failureOf(client.payments.create(order, { signal: controller.signal }));
    await begun;
    controller.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED', requestOutcome: 'accepted' });
    await connectionsClosed(server);
  });

  it.each([
    ['announced', (text: string) => httpAnswer(201, text)],
    ['chunked', (text: string) => `${chunked(text)}0\r\n\r\n`],
  ])(
    'of exactly maxResponseBytes, %s, is read whole, and one byte more is not',
    async (_how, answer) => {
      const text = JSON.stringify({ filler: 'é'.repeat(600) });
      const size = Buffer.byteLength(text);
      const server = await startRawServer({ answer: () => answer(text) });
      const whole = createClient(server.url, { ...options, maxResponseBytes: size });
      const { response } = await whole.payments.create(order);
      expect(response.body).toEqual(JSON.parse(text));
      const short = createClient(server.url, { ...options, maxResponseBytes: size - 1 });
      expect(await failureOf(short.payments.create(order))).toMatchObject({
        code: 'RESPONSE_UNUSABLE',
        requestOutcome: 'accepted',
      });
    },
  );

  it('that ends with the connection is read whole', async () => {
    const server = await startRawServer({
      answer: ({ socket }) => void socket.end(`${head(201, 'connection: close')}${json}`),
    });
    const { payment } = await createClient(server.url, options).payments.create(order);
    expect(payment).toEqual(record);
  });

  it('that comes in many pieces is put together in their order', async () => {
    const answer = httpAnswer(201, { filler: 'é'.repeat(40_000) });
    const bytes = Buffer.from(answer);
    const server = await startRawServer({
      answer: ({ socket }) => {
        for (let at = 0; at < bytes.length; at += 7001) socket.write(bytes.subarray(at, at + 7001));
        return undefined;
      },
    });
    const { response } = await createClient(server.url, options).payments.create(order);
    expect(response.body).toEqual({ filler: 'é'.repeat(40_000) });
  });

  it('of a HEAD is none, whatever length its headers tell', async () => {
    const server = await startRawServer({ answer: () => head(200, 'content-length: 5000') });
    const client = createClient(server.url, { ...options, maxResponseBytes: 1024 });
    const response = await client.request({ method: 'HEAD', path: '/api/payments' });
    expect(response).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': '5000' },
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['BR', brotliCompressSync],
  ])('in %s, although identity was asked for, is read all the same', async (encoding, compress) => {
    const server = await startRawServer({ answer: () => encoded(compress(json), encoding) });
    const { payment } = await createClient(server.url, options).payments.create(order);
    expect(payment).toEqual(record);
  });

  it('in gzip is read where maxResponseBytes is more than any buffer can hold', async () => {
    const server = await startRawServer({ answer: () => encoded(gzipSync(json), 'gzip') });
    const maxResponseBytes = Number.MAX_SAFE_INTEGER;
    const client = createClient(server.url, { ...options, maxResponseBytes });
    expect((await client.payments.create(order)).payment).toEqual(record);
  });

  it('in gzip that is larger than maxResponseBytes once it is read leaves the payment accepted', async () => {
    const body = gzipSync(JSON.stringify({ filler: 'a'.repeat(100_000) }));
    const server = await startRawServer({ answer: () => encoded(body, 'gzip') });
    const client = createClient(server.url, { ...options, maxResponseBytes: 1024 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
    expect(error.message).toContain('with a body larger than maxResponseBytes');
  });

  it.each(['utf-8', 'Identity', 'none', 'aws-chunked'])(
    'that is JSON is read, though its encoding is called %s',
    async (encoding) => {
      const server = await startRawServer({ answer: () => encoded(Buffer.from(json), encoding) });
      const { payment } = await createClient(server.url, options).payments.create(order);
      expect(payment.referenceNumber).toBe(JSON.parse(json).referenceNumber);
    },
  );

  it('that calls itself gzip and is not leaves the payment accepted', async () => {
    const server = await startRawServer({ answer: () => encoded(Buffer.from('no JSON'), 'gzip') });
    const error = await failureOf(createClient(server.url, options).payments.create(order));
    expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
  });

  it('may be missing: 204 is a success', async () => {
    const server = await startRawServer({ answer: () => head(204, 'x-nothing: 1') });
    const { payment, response } = await createClient(server.url, options).payments.create(order);
    expect(payment).toEqual({});
    expect(response).toMatchObject({ status: 204, body: '' });
  });
});

describe.each(transports)(
  'the body of a 2xx in an encoding that is not known, with $name,',
  ({ options }) => {
    it.each(['x-zip', 'gzip, X-Zip', authorization, ''])(
      'leaves the payment accepted: %j',
      async (encoding) => {
        const server = await startRawServer({
          answer: () => encoded(Buffer.from('no JSON'), encoding),
        });
        const error = await failureOf(createClient(server.url, options).payments.create(order));
        expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
        expect(error.message).toContain(
          'was answered with 201, but with a body in an unknown content-encoding, although',
        );
        expect(error.message).not.toContain(encoding || '[redacted]');
      },
    );
  },
);

it('of an error in gzip is read too, and one without bytes has no encoding', async () => {
  const body = gzipSync(JSON.stringify({ code: 'AMOUNT_TOO_SMALL', message: 'm' }));
  const server = await startRawServer({
    answer: (_request, index) =>
      index === 0
        ? Buffer.from(encoded(body, 'gzip').toString('latin1').replace('201', '422'), 'latin1')
        : encoded(Buffer.alloc(0), 'gzip'),
  });
  const client = createClient(server.url);
  expect(await failureOf(client.payments.create(order))).toMatchObject({
    serviceCode: 'AMOUNT_TOO_SMALL',
  });
  expect((await client.payments.create(order)).payment).toEqual({});
});

describe('an answer', () => {
  const json = new TextEncoder().encode('{"a":1}');
  const answer = (headers: ResponseHeaders, more: Partial<AnswerRead> = {}): AnswerRead => ({
    kind: 'answer',
    status: 201,
    headers,
    body: json,
    bodyFailure: undefined,
    ...more,
  });

  it.each([
    [undefined, false],
    ['identity', false],
    ['gzip', true],
    ['', true],
  ])('is encoded or not by its content-encoding: %o', (encoding, expected) => {
    const headers = encoding === undefined ? {} : { 'content-encoding': encoding };
    expect(isEncoded(headers)).toBe(expected);
  });

  const rules = { maxResponseBytes: 100, isDecoded: false, isMock: false };
  const ofJson = { 'content-type': 'application/json' };

  it.each([
    ['x-unknown', { reason: 'encoded' }],
    ['gzip', { reason: 'too-large', cause: { code: 'ERR_BUFFER_TOO_LARGE' } }],
    ['br', { reason: 'lost', cause: {} }],
  ])('in %s that can not be read has lost its body: %j', (encoding, bodyFailure) => {
    const body = encoding === 'gzip' ? gzipSync('a'.repeat(1_000)) : Buffer.from('no JSON');
    const read = completeAnswer(answer({ 'content-encoding': encoding }, { body }), 'POST', rules);
    expect(read).toMatchObject({ status: 201, body, bodyFailure });
  });

  it.each<[string, AnswerRead, string | undefined]>([
    ['with all of its length', answer({ 'content-length': '7' }), undefined],
    ['with less than its length', answer({ 'content-length': '8' }), 'lost'],
    ['without a length, of whole JSON', answer(ofJson), undefined],
    ['without a length, of half a JSON', answer(ofJson, { body: json.subarray(0, 4) }), 'lost'],
    ['without a type, of half a JSON', answer({}, { body: json.subarray(0, 4) }), 'lost'],
    ['without a length, of text', answer({}, { body: json.subarray(1, 4) }), undefined],
    [
      'in chunks, whose end undici sees',
      answer({ ...ofJson, 'transfer-encoding': 'chunked' }, { body: json.subarray(0, 4) }),
      undefined,
    ],
    ...[204, 205].map((status): [string, AnswerRead, undefined] => [
      `that has no body: ${status}`,
      answer({ ...ofJson, 'content-length': '5' }, { status, body: new Uint8Array(0) }),
      undefined,
    ]),
  ])('is whole, or has lost its body: %s', (_, given, reason) => {
    expect(completeAnswer(given, 'POST', rules).bodyFailure?.reason).toBe(reason);
  });

  it("of a mock's is whole, and one to a HEAD has no body", () => {
    const short = answer({ 'content-length': '8' });
    expect(completeAnswer(short, 'POST', { ...rules, isMock: true })).toBe(short);
    expect(completeAnswer(short, 'HEAD', rules)).toBe(short);
  });

  it('of a fetch may have another length than its bytes now have', () => {
    const byFetch = { ...rules, isDecoded: true };
    const changed = answer({ 'content-length': '8' });
    expect(completeAnswer(changed, 'POST', byFetch)).toBe(changed);
    const cut = answer({ 'content-length': '8' }, { body: json.subarray(0, 4) });
    expect(completeAnswer(cut, 'POST', byFetch).bodyFailure).toEqual({ reason: 'lost' });
  });

  it.each([
    ['a text', 'as it came', 'as it came'],
    ['an object', { code: 'X' }, '{"code":"X"}'],
    ['nothing', undefined, ''],
  ])('that an interceptor made an error of has its body again: %s', (_, body, text) => {
    const headers = { 'x-request-id': 'r-1' };
    const error = { code: 'UND_ERR_RESPONSE', statusCode: 422, headers, body };
    const read = readInterceptedAnswer(error);
    expect(read).toEqual({
      kind: 'answer',
      status: 422,
      headers,
      body: Buffer.from(text),
      bodyFailure: undefined,
    });
  });

  it.each([
    [200, { reason: 'lost' }],
    [299, { reason: 'lost' }],
    [300, undefined],
    [503, undefined],
  ])('of status %i has a body that was handed on, or none', (statusCode, bodyFailure) => {
    const error = { code: 'UND_ERR_REQ_RETRY', statusCode };
    const read = readInterceptedAnswer(error);
    expect(read?.headers).toEqual({});
    if (bodyFailure === undefined) expect(read?.bodyFailure).toBeUndefined();
    else expect(read?.bodyFailure).toEqual({ ...bodyFailure, cause: error });
  });

  it.each([
    undefined,
    null,
    'text',
    { code: 'UND_ERR_SOCKET', statusCode: 201 },
    { code: 'UND_ERR_RESPONSE' },
  ])('is not in %o', (error) => {
    expect(readInterceptedAnswer(error)).toBeUndefined();
  });
});
