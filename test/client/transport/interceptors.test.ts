import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher, interceptors, MockAgent, RetryAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  authorization,
  createClient,
  created,
  failureOf,
  httpAnswer,
  noRetries,
  order,
  type RawRequest,
  record,
  startRawServer,
} from '../raw-server.js';
import { cert, key } from '../tls-identity.js';

const eager = { methods: ['POST', 'GET'], minTimeout: 1, maxRetries: 2, retryAfter: false };
type Interceptor = Dispatcher.DispatcherComposeInterceptor;

// All that undici 7.30 has.
const single: readonly { name: string; interceptor: Interceptor }[] = [
  { name: 'cache', interceptor: interceptors.cache() },
  { name: 'decompress', interceptor: interceptors.decompress() },
  { name: 'deduplicate', interceptor: interceptors.deduplicate() },
  { name: 'dns', interceptor: interceptors.dns() },
  { name: 'redirect', interceptor: interceptors.redirect({ maxRedirections: 3 }) },
  { name: 'responseError', interceptor: interceptors.responseError() },
  { name: 'retry', interceptor: interceptors.retry(eager as never) },
];
const dispatchers: readonly { name: string; make: () => Dispatcher }[] = [
  ...single.map(({ name, interceptor }) => ({ name, make: () => agent().compose(interceptor) })),
  { name: 'RetryAgent', make: () => new RetryAgent(agent(), eager as never) },
  { name: 'all', make: () => agent().compose(single.map(({ interceptor }) => interceptor)) },
  {
    name: 'all, the other way round',
    make: () => agent().compose(single.map(({ interceptor }) => interceptor).reverse()),
  },
];

function agent(): Agent {
  const made = new Agent();
  onTestFinished(() => made.destroy());
  return made;
}

/** The same address by its name, which the dns interceptor looks up. */
const byName = (url: string) => url.replace('127.0.0.1', 'localhost');

it('every interceptor of undici is here', () => {
  // `dump` discards the body, and has a separate test.
  expect(Object.keys(interceptors).sort()).toEqual(
    ['dump', ...single.map(({ name }) => name)].sort(),
  );
});

describe.each(dispatchers)('a dispatcher with $name', ({ make }) => {
  it('sends one request, as it is', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(byName(server.url), { dispatcher: make() });
    const { payment, response } = await client.payments.create(order);
    expect(payment).toEqual(record);
    expect(response).toMatchObject({ status: 201, attempts: 1 });
    expect(server.requests).toHaveLength(1);
    const [{ line, headers, body } = { line: '', headers: {}, body: '' }] = server.requests;
    expect(line).toBe('POST /api/payments HTTP/1.1');
    expect(JSON.parse(body)).toEqual(order);
    expect(headers).toEqual({
      host: byName(server.url).slice('http://'.length),
      connection: 'keep-alive',
      authorization,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': expect.stringContaining('merchant-payments'),
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    });
  });

  it.each<[string, object, (request: RawRequest) => string | undefined]>([
    ['a 503', { httpStatus: 503 }, () => httpAnswer(503, '', { 'retry-after': '0' })],
    ['a redirect', { httpStatus: 307 }, () => httpAnswer(307, '', { location: '/elsewhere' })],
    [
      'a 401',
      { code: 'INVALID_CREDENTIALS', requestOutcome: 'rejected' },
      () => httpAnswer(401, { code: 'INVALID_CREDENTIALS', message: 'Invalid credentials.' }),
    ],
    [
      'a reset',
      { code: 'CONNECTION_FAILED', requestOutcome: 'unknown' },
      ({ socket }) => void socket.resetAndDestroy(),
    ],
    [
      'a 201 whose body broke off',
      { code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' },
      ({ socket }) =>
        void socket.end(
          `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n${JSON.stringify(record)}`,
        ),
    ],
  ])('does not send a payment again after %s, and tells it', async (_what, told, answer) => {
    const server = await startRawServer({ answer });
    const client = createClient(byName(server.url), { dispatcher: make(), ...noRetries });
    expect(await failureOf(client.payments.create(order))).toMatchObject(told);
    // What was to be sent before this has been sent.
    await client.request({ method: 'GET', path: '/barrier' }).catch(() => {});
    expect(server.requests.filter(({ line }) => line.startsWith('POST'))).toHaveLength(1);
  });
});

it.each(['GET', 'HEAD'])('a %s may be sent again by a RetryAgent', async (method) => {
  const busy = httpAnswer(503, '', { 'retry-after': '0' });
  // A HEAD tells the length of a GET.
  const answers = [
    busy,
    httpAnswer(200, '', { 'content-length': method === 'HEAD' ? '250' : '0' }),
  ];
  const server = await startRawServer({ answer: (_request, index) => answers[index] });
  const dispatcher = new RetryAgent(agent(), { ...eager, methods: ['GET', 'HEAD'] } as never);
  const client = createClient(server.url, { dispatcher, ...noRetries });
  expect((await client.request({ method, path: '/api/payments/1' })).status).toBe(200);
  expect(server.requests).toHaveLength(2);
});

it('a body that dump threw away leaves the payment accepted, rather than created without fields', async () => {
  const server = await startRawServer({ answer: () => created });
  const dispatcher = agent().compose(interceptors.dump({ maxSize: 10_000 }));
  const error = await failureOf(createClient(server.url, { dispatcher }).payments.create(order));
  expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
});

it('a MockAgent compares the body to a text, and its answer need not keep to HTTP', async () => {
  const dispatcher = new MockAgent();
  onTestFinished(() => dispatcher.close());
  dispatcher
    .get('https://payments.example')
    .intercept({ path: '/api/payments', method: 'POST', body: JSON.stringify(order) })
    .reply(201, '', { headers: { 'content-type': 'application/json', 'content-length': '5' } });
  const client = createClient('https://payments.example', { dispatcher });
  expect((await client.payments.create(order)).payment).toEqual({});
});

describe('over HTTP/2, by a dispatcher that allows it,', () => {
  async function startHttp2(answer: Parameters<Http2SecureServer['on']>[1]) {
    const server = createSecureServer({ key, cert });
    const sessions = new Set<{ destroy(): void }>();
    server.on('session', (session) => sessions.add(session));
    server.on('stream', answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const dispatcher = new Agent({ allowH2: true, connect: { ca: cert } });
    onTestFinished(async () => {
      await dispatcher.destroy();
      for (const session of sessions) session.destroy();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return createClient(url, { dispatcher, ...noRetries });
  }

  it('a payment is created', async () => {
    const client = await startHttp2((stream) => {
      stream.respond({ ':status': 201, 'content-type': 'application/json' });
      stream.end(JSON.stringify(record));
    });
    expect((await client.payments.create(order)).payment).toEqual(record);
  });

  // 0 NO_ERROR, 2 INTERNAL_ERROR, 8 CANCEL
  it.each([
    [0, ''],
    [8, ''],
    [2, ''],
    [0, '{"referenceNumber":'],
    [8, '{"referenceNumber":'],
    [2, '{"referenceNumber":'],
  ])('RST_STREAM %i in the body of a 201, after %j, leaves it accepted', async (code, part) => {
    const client = await startHttp2((stream) => {
      stream.on('error', () => {});
      stream.respond({ ':status': 201, 'content-type': 'application/json' });
      if (part === '') setImmediate(() => stream.close(code));
      else stream.write(part, () => setImmediate(() => stream.close(code)));
    });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
  });
});
