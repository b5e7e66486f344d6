import { Console } from 'node:console';
import { tracingChannel } from 'node:diagnostics_channel';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import { MockAgent } from 'undici';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PaymentClient, type PaymentClientOptions } from '../../src/index.js';
import {
  createClient,
  failureOf,
  httpAnswer,
  type RawRequest,
  refusedPort,
  startRawServer,
  type TransportOptions,
  transports,
  withoutJitter,
} from './raw-server.js';

const apiKey = 'planted-key/7Zq';
const apiSecret = 'planted+secret/é"7Zq';
const marker = 'planted-reference-7Zq';
const note = 'planted-note-7Zq';
const order = { merchantPaymentReference: marker, amount: 2500, currency: 'EUR' };
const extraBody = { note };
const basic = Buffer.from(`${apiKey}:${apiSecret}`).toString('base64');
const body = JSON.stringify({ note, ...order });

const planted = [apiKey, apiSecret, `${apiKey}:${apiSecret}`, basic, marker, note].flatMap(
  (secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...(['base64', 'base64url', 'hex'] as const).map((form) =>
      Buffer.from(secret).toString(form).replace(/=+$/, ''),
    ),
    Buffer.from(secret).toString('hex').toUpperCase(),
  ],
);

/** Everything that can be seen of a value. */
function seenOf(value: unknown): string {
  const seen = [String(value), JSON.stringify(value), inspect(value)];
  for (const customInspect of [true, false]) {
    const depth = Number.POSITIVE_INFINITY;
    seen.push(inspect(value, { showHidden: true, getters: true, depth, customInspect }));
  }
  for (let error = value; error instanceof Error; error = error.cause) {
    seen.push(error.message, error.stack ?? '', JSON.stringify(error));
  }
  return seen.join('\n');
}

const expectClean = (text: string): void => {
  for (const secret of planted) expect(text).not.toContain(secret);
};

// Lines of the logger and messages of the tracing channel, of the calls of one test.
function listen() {
  let seen = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      seen += chunk;
      done();
    },
  });
  const hear = (message: unknown) => {
    seen += seenOf(message);
  };
  const listeners = { start: hear, end: hear, asyncStart: hear, asyncEnd: hear, error: hear };
  const channel = tracingChannel<object, object>('merchant-payments:request');
  channel.subscribe(listeners);
  onTestFinished(() => void channel.unsubscribe(listeners));
  const logger = new Console({ stdout: sink, inspectOptions: { depth: null, showHidden: true } });
  return { logger, heard: () => seen };
}

const secretive = (url: string, options: TransportOptions) =>
  createClient(url, { apiKey, apiSecret, maxRetries: 1, ...options });

/** Everything that a client can echo: the whole header, the credentials and the body. */
const echoes = [
  `Basic ${basic}`,
  basic,
  `${apiKey}:${apiSecret}`,
  encodeURIComponent(apiSecret),
  Buffer.from(apiSecret).toString('hex'),
  body,
  Buffer.from(body).toString('base64'),
  JSON.stringify(body),
  `${'.'.repeat(290)}${basic}`,
  `${'.'.repeat(290)}${body}`,
];
const echo = echoes.join(' | ');

const answers: readonly { what: string; answer: (request: RawRequest) => string | undefined }[] = [
  ...[301, 400, 401, 422, 429, 500].flatMap((status) =>
    echoes.map((said, index) => ({
      what: `${status} with echo ${index} in every field`,
      answer: () => httpAnswer(status, { code: said, message: said, requestId: said }),
    })),
  ),
  { what: '500 with an HTML page', answer: () => httpAnswer(500, `<pre>${echo}</pre>`) },
  { what: 'a reset', answer: ({ socket }) => void socket.resetAndDestroy() },
  { what: 'the request for a status line', answer: () => `${echo}\r\n\r\n` },
  { what: 'a header without end', answer: () => `HTTP/1.1 200 OK\r\nx: ${echo.repeat(200)}` },
  {
    what: 'a 2xx that is cut',
    answer: ({ socket }) =>
      void socket.end(`HTTP/1.1 201 OK\r\ncontent-length: 9999\r\n\r\n${echo}`),
  },
  { what: 'a 2xx that is too large', answer: () => httpAnswer(201, echo.repeat(200)) },
];

describe.each(transports)('no secret is seen, with $name,', ({ options }) => {
  it.each(answers)('after $what', async ({ answer }) => {
    withoutJitter();
    const { logger, heard } = listen();
    const server = await startRawServer({ answer });
    const client = secretive(server.url, { ...options, logger, maxResponseBytes: 100_000 });
    const seen = seenOf(await failureOf(client.payments.create(order, { extraBody })));
    expect(server.requests[0]?.body).toBe(body);
    expectClean(seen);
    expectClean(heard());
    expect(heard()).toContain('/api/payments');
    expectClean(seenOf(client));
    expectClean(seenOf(client.payments));
  });

  it('after a refused connection, a passed deadline, an abort and a closed client', async () => {
    const { logger, heard } = listen();
    const server = await startRawServer({});
    const client = secretive(server.url, { ...options, logger });
    const refused = secretive(`http://127.0.0.1:${await refusedPort()}`, { ...options, logger });
    const reason = new Error(`${marker} was cancelled with ${apiSecret}`);
    const errors = [
      await failureOf(refused.payments.create(order, { extraBody })),
      await failureOf(client.payments.create(order, { extraBody, timeoutMs: 50 })),
      await failureOf(client.payments.create(order, { signal: AbortSignal.abort(reason) })),
    ];
    await client.close();
    errors.push(await failureOf(client.payments.create(order)));
    expect(errors.map(({ code }) => code)).toEqual([
      'CONNECTION_FAILED',
      'TIMEOUT',
      'ABORTED',
      'CONNECTION_FAILED',
    ]);
    for (const error of errors) expectClean(seenOf(error));
    expectClean(heard());
  });

  it('after a responseSchema that quotes what it saw', async () => {
    const { logger, heard } = listen();
    const server = await startRawServer({ answer: () => httpAnswer(201, { echo }) });
    const client = secretive(server.url, { ...options, logger });
    const schema = (validate: () => { issues: { message: string }[] }) =>
      ({ '~standard': { version: 1, vendor: 'test', validate } }) as const;
    const quoting = schema(() => ({ issues: echoes.map((message) => ({ message })) }));
    const throwing = schema(() => {
      throw new Error(echo);
    });
    for (const responseSchema of [quoting, throwing]) {
      const error = await failureOf(client.payments.create(order, { extraBody, responseSchema }));
      expect(error.code).toBe('RESPONSE_UNUSABLE');
      expectClean(seenOf(error));
    }
    expectClean(heard());
  });
});

describe('no secret is seen', () => {
  const quoting = new Error(`below: ${echo}`);
  it.each<[string, unknown]>([
    ['a text', echo],
    ['an error that quotes', quoting],
    ['an error with a code that quotes', Object.assign(new Error(echo), { code: 'EPIPE' })],
    ['an error whose code is the secret', Object.assign(new Error('m'), { code: apiSecret })],
    [
      'an error whose code is the header',
      Object.assign(new Error('m'), { code: `Basic ${basic}` }),
    ],
    ['an error whose code is the key', Object.assign(new Error('m'), { code: marker.repeat(9) })],
    ['causes that quote', new TypeError('fetch failed', { cause: quoting })],
    ['fields that quote', Object.assign(new Error('m'), { code: 'E', request: { headers: echo } })],
    ['errors that quote', new AggregateError([quoting], echo)],
    ['an error whose name quotes', Object.assign(new Error('m'), { name: echo })],
  ])('after a fetch that rejects with %s', async (_what, reason) => {
    const { logger, heard } = listen();
    const fetch = () => Promise.reject(reason);
    const client = secretive('https://payments.invalid', { fetch, logger });
    const error = await failureOf(client.payments.create(order, { extraBody }));
    expect(error.code).toBe('CONNECTION_FAILED');
    expectClean(seenOf(error));
    expectClean(heard());
  });

  it("after a MockAgent's refusal, which quotes headers and body", async () => {
    const { logger, heard } = listen();
    const dispatcher = new MockAgent();
    onTestFinished(() => dispatcher.close());
    dispatcher.disableNetConnect();
    const pool = dispatcher.get('https://payments.example');
    for (const unmatched of [{ headers: { authorization: 'other' } }, { body: 'other' }]) {
      pool.intercept({ path: '/api/payments', method: 'POST', ...unmatched }).reply(201);
      const client = secretive('https://payments.example', { dispatcher, logger, maxRetries: 0 });
      const error = await failureOf(client.payments.create(order, { extraBody }));
      expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
      expectClean(seenOf(error));
    }
    expectClean(heard());
  });

  it('after a request that can not be right', async () => {
    const client = secretive('https://payments.invalid', {});
    const calls = [
      client.payments.create({ ...order, currency: marker }),
      client.payments.create({ ...order, amount: apiSecret as unknown as number }),
      client.payments.create(order, { extraBody: { amount: note } }),
      client.payments.create(order, { extraBody: { nested: [Number.NaN, note] } }),
      client.payments.create(order, { timeoutMs: apiSecret as unknown as number }),
      client.request({ method: apiSecret, path: '/x' }),
      client.request({ method: 'GET', path: apiSecret }),
      client.request({ method: 'GET', path: '/x', body: { note } }),
    ];
    for (const call of calls) {
      const error = await failureOf(call);
      expect(error.requestOutcome).toBe('not-sent');
      expectClean(seenOf(error));
    }
  });
});

describe('no secret is seen of a construction that was refused', () => {
  const good: PaymentClientOptions = { baseUrl: 'https://payments.example', apiKey, apiSecret };
  let given: object[] = [];
  beforeAll(() => {
    given = [
      { apiSecret: `${apiSecret}\n` },
      { apiSecret: `${apiSecret}\u0000.` },
      { apiSecret: [apiSecret] },
      { apiSecret: Buffer.from(apiSecret) },
      { apiKey: `${apiKey}:${apiSecret}` },
      { apiKey: ` ${apiKey}` },
      { baseUrl: `https://user:${encodeURIComponent(apiSecret)}@payments.example` },
      { baseUrl: `https://payments.example?secret=${encodeURIComponent(apiSecret)}` },
      { baseUrl: apiSecret },
      { timeoutMs: apiSecret },
      { logger: apiSecret },
      { dispatcher: { secret: apiSecret } },
    ];
  });

  it('whatever was wrong with it', () => {
    for (const options of given) {
      let refusal: unknown;
      try {
        new PaymentClient({ ...good, ...options });
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toMatchObject({ code: 'INVALID_OPTION' });
      expectClean(seenOf(refusal));
    }
  });
});
