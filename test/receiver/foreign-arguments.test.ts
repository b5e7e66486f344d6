import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { SQSEvent } from 'aws-lambda';
import express5 from 'express';
import { type FastifyInstance, fastify as fastify5 } from 'fastify';
import Koa from 'koa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { InvalidOptionError } from '../../src/errors.js';
import { callbackPlugin } from '../../src/fastify/callback-plugin.js';
import { callbackHandler as fetchHandler } from '../../src/fetch/callback-handler.js';
import { callbackHandler as lambdaHandler } from '../../src/lambda/callback-handler.js';
import { callbackHandler as nodeHandler } from '../../src/node/callback-handler.js';
import { createCallbackReceiver } from '../../src/receiver/callback-receiver.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { makeHttpApiEvent } from '../lambda/events.js';
import { deliver, openScene, PATH, SECRET, sign } from './adapter-contract/scene.js';

/** Any handler, as a program that does not check types mounts it. */
type AnyHandler = (...args: readonly unknown[]) => unknown;
type EntryName = 'node' | 'fetch' | 'lambda' | 'fastify' | 'receiver';

const entries: Record<EntryName, (options: CallbackReceiverOptions) => AnyHandler> = {
  node: (options) => nodeHandler(options) as AnyHandler,
  fetch: (options) => fetchHandler(options) as AnyHandler,
  lambda: (options) => lambdaHandler(options) as AnyHandler,
  // Mounted itself, in place of registered.
  fastify: () => callbackPlugin as AnyHandler,
  receiver: (options) => createCallbackReceiver(options).receive as AnyHandler,
};
const names = Object.keys(entries) as EntryName[];

// --- Frameworks that answer over a response of node:http ------------------------------------------

type Mount = (handler: AnyHandler) => Server | Promise<Server>;

const mountFastify =
  (create: typeof fastify5): Mount =>
  async (handler) => {
    const app = create() as FastifyInstance;
    // As NestJS keeps the body with rawBody: true.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
      Object.assign(request, { rawBody: bytes });
      done(null, JSON.parse(String(bytes)));
    });
    app.post(PATH, (request, reply) => handler(request, reply) as Promise<unknown>);
    await app.ready();
    onTestFinished(() => app.close());
    return app.server;
  };

const servers: [string, Mount][] = [
  ['node:http', (handler) => createServer(handler)],
  ['Express 5', (handler) => createServer(express5().all(PATH, handler as express5.Handler))],
  [
    'Koa',
    (handler) => {
      const app = new Koa();
      app.silent = true;
      return createServer(app.use(handler as Koa.Middleware).callback());
    },
  ],
  ['Fastify 5', mountFastify(fastify5)],
];

describe.each(servers)('what %s passes to a route', (_name, mount) => {
  it('is served by merchant-payments/node', async () => {
    const scene = await openScene((options) => mount(entries.node(options)));
    const callback = sign();
    expect(await deliver(scene, callback)).toMatchObject({ status: 200, body: '' });
    expect(await deliver(scene, callback)).toMatchObject({ status: 200, body: '' });
    const forged = sign({}, { signingSecret: 'another' });
    expect(await deliver(scene, forged)).toMatchObject({ status: 401, body: '' });
    expect(scene.callbacks).toHaveLength(1);
    expect(scene.reported).toEqual([]);
  });

  it.each(['fetch', 'lambda'] as const)(
    'is answered 500 by merchant-payments/%s, and onError hears of merchant-payments/node',
    async (entry) => {
      const scene = await openScene((options) => mount(entries[entry](options)));
      expect(await deliver(scene, sign())).toMatchObject({ status: 500, body: '' });
      expect(scene.callbacks).toEqual([]);
      expect(scene.reported).toHaveLength(1);
      expect(scene.reported[0]?.error).toBeInstanceOf(InvalidOptionError);
      const message = String(scene.reported[0]?.error);
      expect(message).toContain(`The handler of merchant-payments/${entry} takes`);
      expect(message).toContain('Use callbackHandler of merchant-payments/node instead');
    },
  );

  it('is answered 500 by callbackPlugin, which was to be registered', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const scene = await openScene((options) => mount(entries.fastify(options)));
    expect(await deliver(scene, sign())).toMatchObject({ status: 500 });
    expect(String(log.mock.calls)).toContain('app.register(callbackPlugin');
  });
});

/** What of a request and its response reaches the handler, and what the error says of it. */
const partly: [string, (request: object, response: object) => unknown, string][] = [
  [
    "Express's request alone",
    (request) => request,
    'received a request of node:http without its response. Use callbackHandler of merchant-payments/node instead: handler(request, response)',
  ],
  [
    "h3's event",
    (req, res) => ({ node: { req, res }, context: {} }),
    "received h3's event. Use callbackHandler of merchant-payments/node instead: handler(event.node.req, event.node.res)",
  ],
];

describe.each(partly)('%s', (_what, pass, says) => {
  it.each(['node', 'fetch', 'lambda'] as const)(
    'is answered 500 by merchant-payments/%s, and named as what it is',
    async (entry) => {
      const scene = await openScene((options) => {
        const handler = entries[entry](options);
        return createServer(
          express5().all(PATH, (request, response) => handler(pass(request, response))),
        );
      });
      expect(await deliver(scene, sign())).toMatchObject({ status: 500, body: '' });
      expect(scene.callbacks).toEqual([]);
      const [{ error } = { error: undefined }] = scene.reported;
      expect((error as Error).message).toContain(says);
    },
  );
});

// --- What is passed without such a response --------------------------------------------------------

/** A request of node:http, as AWS got it. */
function awsRequest(): [IncomingMessage, Buffer] {
  const { rawBody, headers } = sign();
  const headersDistinct = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value]]),
  );
  const rawHeaders = Object.entries(headers).flat();
  const request = { method: 'POST', url: PATH, headers, headersDistinct, rawHeaders };
  return [request as unknown as IncomingMessage, Buffer.from(rawBody)];
}

function makeRequest(): Request {
  const { rawBody, headers } = sign();
  return new Request(`http://127.0.0.1${PATH}`, { method: 'POST', headers, body: rawBody });
}

const sqs = {
  Records: [{ messageId: '1', body: '{}', attributes: { SentTimestamp: '1' } }],
} as unknown as SQSEvent;
const passed: [string, make: () => unknown, served: EntryName | 'none', remedy: string][] = [
  ['a Request', makeRequest, 'fetch', 'merchant-payments/fetch'],
  [
    'an event of an HTTP API or a function URL',
    () => makeHttpApiEvent(...awsRequest()),
    'lambda',
    'merchant-payments/lambda',
  ],
  ['an event of SQS', () => sqs, 'none', 'with receivedAt, as in docs/queues.md'],
  ['an empty object', () => ({}), 'none', 'docs/frameworks.md'],
  ['nothing', () => undefined, 'none', 'docs/frameworks.md'],
];

function createHandler(entry: EntryName) {
  const references: string[] = [];
  const reported: unknown[] = [];
  const handler = entries[entry]({
    signingSecret: SECRET,
    onPayment: ({ payment }) => void references.push(payment.referenceNumber),
    onError: (error) => void reported.push(error),
    onRejected: () => undefined,
  });
  return { handler, references, reported };
}

describe.each(passed)('%s', (_what, make, served, remedy) => {
  it.each(names.filter((name) => name === served))(
    'is served by merchant-payments/%s',
    async (entry) => {
      const { handler, references } = createHandler(entry);
      const reply = (await handler(await make())) as { status?: number; statusCode?: number };
      expect(reply.status ?? reply.statusCode).toBe(200);
      expect(references).toHaveLength(1);
    },
  );

  it.each(names.filter((name) => name !== served && name !== 'receiver'))(
    'is refused by merchant-payments/%s, whose error says what to use',
    async (entry) => {
      const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
      const { handler, references, reported } = createHandler(entry);
      const error = await Promise.resolve(handler(await make(), {})).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect((error as Error).message).toContain(remedy);
      expect(references).toEqual([]);
      // The plugin has no options yet.
      if (entry === 'fastify') expect(log).toHaveBeenCalledOnce();
      else expect(reported).toEqual([error]);
    },
  );

  it('does not pass as a request of merchant-payments/receiver', async () => {
    const { handler, references, reported } = createHandler('receiver');
    const outcome = await Promise.resolve(handler(await make())).catch((error: unknown) => error);
    const error = outcome instanceof Error ? outcome : reported[0];
    // A Request has a method and headers, but no rawBody.
    expect((error as { code?: string }).code).toMatch(/^(INVALID_OPTION|RAW_BODY_REQUIRED)$/);
    expect(references).toEqual([]);
  });
});
