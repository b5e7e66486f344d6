import type { Socket } from 'node:net';
import {
  Agent,
  type buildConnector,
  type Dispatcher,
  ProxyAgent,
  fetch as undiciFetch,
} from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createClient,
  created,
  failureOf,
  order,
  refusedPort,
  startRawServer,
  type TransportOptions,
  withoutJitter,
} from '../raw-server.js';

/** A way to send whose connecting the test decides, by both transports. */
type Connect = NonNullable<Agent.Options['connect']>;
const connecting: readonly { name: string; through: (connect: Connect) => TransportOptions }[] = [
  { name: 'undici', through: (connect) => ({ dispatcher: createAgent(connect) }) },
  { name: 'fetch', through: (connect) => ({ fetch: createFetch(createAgent(connect)) }) },
];

function createAgent(connect: Connect): Agent {
  const agent = new Agent({ connect });
  onTestFinished(() => agent.destroy());
  return agent;
}

async function plainServer(): Promise<string> {
  const { url } = await startRawServer({
    connected: (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  });
  return url;
}

function createFetch(dispatcher: Dispatcher): typeof globalThis.fetch {
  return ((url: string, init: object) =>
    undiciFetch(url, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
}

const noSuchName = (attempts: string[]) => ({
  lookup: (hostname: string, _options: object, done: (error: Error, address: string) => void) => {
    attempts.push(hostname);
    const error = new Error(`getaddrinfo ENOTFOUND ${hostname}`);
    done(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname }), '');
  },
});

describe.each(connecting)('with $name, before anything was sent', ({ through }) => {
  it('a name that has no address is tried three times and counts as not sent', async () => {
    withoutJitter();
    const lookups: string[] = [];
    const client = createClient('https://payments.invalid', through(noSuchName(lookups)));
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({
      code: 'CONNECTION_FAILED',
      requestOutcome: 'not-sent',
      safeToRetry: true,
    });
    expect(error.message).toBe(
      'POST /api/payments got no connection (ENOTFOUND). Nothing was sent: it is safe to try again. (docs/errors.md#calls)',
    );
    expect(lookups).toEqual(Array(3).fill('payments.invalid'));
  });

  it('a refused connection is tried three times and counts as not sent', async () => {
    withoutJitter();
    const lines: object[] = [];
    const keep = (fields: object) => void lines.push(fields);
    const logger = { debug: keep, info: keep, warn: keep, error: keep };
    const client = createClient(`http://127.0.0.1:${await refusedPort()}`, {
      ...through({}),
      logger,
    });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
    expect(lines).toHaveLength(3);
    expect(lines).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }]);
  });

  it('a connection that does not come about in time counts as not sent', async () => {
    const lookups: string[] = [];
    // Connecting waits for an address that never comes.
    const stalled = { timeout: 50, lookup: (name: string) => void lookups.push(name) };
    const client = createClient('https://payments.invalid', through(stalled));
    const error = await failureOf(client.payments.create(order, { maxRetries: 0 }));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(error.message).toContain('got no connection (UND_ERR_CONNECT_TIMEOUT)');
    expect(lookups).toEqual(['payments.invalid']);
  });

  const CA =
    /, since Node trusts no CA that signed .* name its file in NODE_EXTRA_CA_CERTS\. Nothing/;
  const TLS = /, since the server does not speak TLS .* should begin with http:\. Nothing/;
  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', CA],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', CA],
    ['ERR_SSL_WRONG_VERSION_NUMBER', TLS],
    ['CERT_HAS_EXPIRED', /\(CERT_HAS_EXPIRED\)\. Nothing/],
  ])('a connection that ends in %s counts as not sent, and says what to do', async (code, says) => {
    const refuseCertificate: buildConnector.connector = (_options, done) => {
      done(Object.assign(new Error('not accepted'), { code }), null);
    };
    const client = createClient('https://payments.invalid', {
      ...through(refuseCertificate),
      maxRetries: 0,
    });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(error.message).toContain(`(${code})`);
    expect(error.message).toMatch(says);
  });

  it.each<[string, (socket: Socket) => void, RegExp]>([
    [
      'is answered without TLS',
      (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /\(ERR_SSL_\w+\), since the server does not speak TLS at this port/,
    ],
    [
      'is reset',
      (socket) => void socket.once('data', () => socket.resetAndDestroy()),
      /ECONNRESET/,
    ],
    ['is closed', (socket) => void socket.once('data', () => socket.end()), /got no connection/],
  ])('a TLS handshake that %s counts as not sent', async (_how, connected, says) => {
    withoutJitter();
    const server = await startRawServer({ connected });
    const client = createClient(`https://localhost:${server.port}`, through({}));
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({
      code: 'CONNECTION_FAILED',
      requestOutcome: 'not-sent',
      safeToRetry: true,
      message: expect.stringMatching(says),
    });
    expect(server.connections).toHaveLength(3);
  });

  it('a call whose signal was aborted before it began opens no connection', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url, through({}));
    await client.payments.create(order);
    const call = client.payments.create(order, { signal: AbortSignal.abort() });
    expect(await failureOf(call)).toMatchObject({ code: 'ABORTED', requestOutcome: 'not-sent' });
    await client.payments.create(order);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a fetch of the user that fails after it has sent the request', () => {
  const audit = async () => `http://127.0.0.1:${await refusedPort()}`;

  it.each<[string, () => Promise<string>]>([
    ['refuses connections', audit],
    ['has no address', async () => 'http://audit.invalid'],
    ['does not speak TLS', async () => (await plainServer()).replace('http:', 'https:')],
  ])('because another service %s leaves the payment unknown, sent once', async (_why, other) => {
    const otherUrl = await other();
    const server = await startRawServer({ answer: () => created });
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await globalThis.fetch(input, init);
      await globalThis.fetch(otherUrl, { method: 'POST', body: 'sent' });
      return response;
    };
    const error = await failureOf(createClient(server.url, { fetch }).payments.create(order));
    expect(error).toMatchObject({
      code: 'CONNECTION_FAILED',
      requestOutcome: 'unknown',
      safeToRetry: false,
    });
    expect(error.message).toContain('do not send it again');
    expect(server.requests).toHaveLength(1);
  });
});

it('a proxy that refuses connections leaves what fetch sends through it not sent', async () => {
  const agent = new ProxyAgent(`http://127.0.0.1:${await refusedPort()}`);
  onTestFinished(() => agent.destroy());
  const client = createClient('https://payments.invalid', {
    fetch: createFetch(agent),
    maxRetries: 0,
  });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
});

it('a deadline that passes while the connection is made leaves nothing sent', async () => {
  const neverConnects: buildConnector.connector = () => {};
  const client = createClient('https://payments.invalid', {
    dispatcher: createAgent(neverConnects),
    timeoutMs: 100,
  });
  expect(await failureOf(client.payments.create(order))).toMatchObject({
    code: 'TIMEOUT',
    requestOutcome: 'not-sent',
  });
});

it('a dispatcher that was closed counts as not sent', async () => {
  const agent = createAgent({});
  await agent.close();
  const client = createClient('https://payments.invalid', { dispatcher: agent, maxRetries: 0 });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
  expect(error.message).toContain('(UND_ERR_DESTROYED)');
});

it('a dispatcher that throws at once counts as not sent', async () => {
  const dispatcher = {
    dispatch(): boolean {
      throw Object.assign(new Error('no'), { code: 'OUT_OF_ORDER' });
    },
  } as unknown as Agent;
  const client = createClient('https://payments.invalid', { dispatcher, maxRetries: 0 });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
  expect(error.message).toContain('got no connection (OUT_OF_ORDER)');
});
