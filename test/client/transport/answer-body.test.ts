import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
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
];

const endless = (socket: RawRequest['socket'], chunk: string): undefined => {
  const pump = () => {
    while (!socket.destroyed && socket.write(chunk));
    if (!socket.destroyed) socket.once('drain', pump);
  };
  pump();
  return undefined;
};

const encoded = (body: Buffer, encoding: string, status = 201) =>
  Buffer.concat([
    Buffer.from(
      `${head(status, `content-type: application/json\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}`)}`,
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

  it('that has no end is not read beyond maxResponseBytes, and leaves the payment accepted', async () => {
    const server = await startRawServer({
      answer: ({ socket }) => {
        socket.write(head(201, 'transfer-encoding: chunked'));
        return endless(socket, `400\r\n${'a'.repeat(1024)}\r\n`);
      },
    });
    const client = createClient(server.url, { ...options, maxResponseBytes: 1024 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
    expect(error.message).toContain('with a body larger than maxResponseBytes');
    expect(server.requests).toHaveLength(1);
    await connectionsClosed(server);
  });

  it.each(['TIMEOUT', 'ABORTED'])(
    'that is being read at the end of the call leaves the payment accepted: %s',
    async (code) => {
      const { timeoutMs, expire } = holdDeadline();
      const controller = new AbortController();
      const server = await startRawServer({
        answer: () => `${head(201, 'content-length: 500')}${json}`,
      });
      const client = createClient(server.url, { ...options, timeoutMs });
      const begun = answerBegun();
      const failure = failureOf(client.payments.create(order, { signal: controller.signal }));
      await begun;
      if (code === 'ABORTED') controller.abort();
      // What ends a call first is told.
      expire();
      const error = await failure;
      expect(error).toMatchObject({ code, requestOutcome: 'accepted' });
      expect(error.message).toContain('The service accepted the request: do not send it again.');
      await connectionsClosed(server);
    },
  );

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

  it('in gzip is read where maxResponseBytes is more than any buffer can hold', async () => {
    const server = await startRawServer({ answer: () => encoded(gzipSync(json), 'gzip') });
    const maxResponseBytes = Number.MAX_SAFE_INTEGER;
    const client = createClient(server.url, { ...options, maxResponseBytes });
    expect((await client.payments.create(order)).payment).toEqual(record);
  });
});

it('of a 2xx in gzip that is too large once it is read is told as such', async () => {
  const body = gzipSync('a'.repeat(100_000));
  const server = await startRawServer({ answer: () => encoded(body, 'gzip') });
  const client = createClient(server.url, { maxResponseBytes: 1024 });
  const error = await failureOf(client.payments.create(order));
  expect(error.message).toContain('with a body larger than maxResponseBytes');
});

it('of a 2xx in an unknown encoding is named as such, without a secret', async () => {
  const server = await startRawServer({
    answer: () => encoded(Buffer.from('no JSON'), `gzip, ${authorization}`),
  });
  const error = await failureOf(createClient(server.url).payments.create(order));
  expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
  expect(error.message).toContain('with a body in an unknown content-encoding');
  expect(error.message).not.toContain(authorization);
});

it('of an error in gzip is read too', async () => {
  const body = gzipSync(JSON.stringify({ code: 'AMOUNT_TOO_SMALL', message: 'm' }));
  const server = await startRawServer({ answer: () => encoded(body, 'gzip', 422) });
  const error = await failureOf(createClient(server.url).payments.create(order));
  expect(error).toMatchObject({ serviceCode: 'AMOUNT_TOO_SMALL' });
});
