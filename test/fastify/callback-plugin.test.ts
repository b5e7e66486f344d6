import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import { type FastifyInstance, type FastifyServerOptions, fastify as fastify5 } from 'fastify';
import { fastify as fastify4 } from 'fastify-4';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callbackPlugin } from '../../src/fastify/callback-plugin.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { createGate } from '../contract/gate.js';
import { describeConnections } from '../receiver/adapter-contract/connections.js';
import { expectProcessed, expectRemedy } from '../receiver/adapter-contract/read-early.js';
import { describeReplies } from '../receiver/adapter-contract/replies.js';
import {
  deliver,
  type MakeServer,
  openScene,
  PATH,
  SECRET,
  sign,
} from '../receiver/adapter-contract/scene.js';

type CreateApp = (options?: FastifyServerOptions) => FastifyInstance;

const versions: [name: string, createApp: CreateApp][] = [
  // What the tests use of it is the same in both.
  ['Fastify 4', fastify4 as unknown as CreateApp],
  ['Fastify 5', fastify5 as CreateApp],
];

describe.each(versions)('%s', (name, createApp) => {
  async function start(
    options: CallbackReceiverOptions,
    prepare: (app: FastifyInstance) => unknown = () => undefined,
    plugin: { path?: string; prefix?: string } = {},
  ): Promise<Server> {
    const app = createApp();
    await prepare(app);
    app.register(callbackPlugin, { path: PATH, ...plugin, ...options });
    await app.ready();
    onTestFinished(() => app.close());
    return app.server;
  }

  describeReplies(name, (options) => start(options));
  describeConnections(name, (options) => start(options));

  describeConnections(`${name} with merchant-payments/node`, async (options) => {
    const app = createApp();
    const handler = callbackHandler(options);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    app.all(PATH, (request, reply) => handler(request, reply));
    await app.ready();
    onTestFinished(() => app.close());
    return app.server;
  });

  it('leaves the parsers of the application alone, its own among them', async () => {
    const scene = await openScene((options) =>
      start(options, (app) => {
        app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, text, done) =>
          done(null, String(text).split(',')),
        );
        app.post('/echo', async ({ body }) => ({ body }));
      }),
    );
    const { rawBody, headers } = sign();
    const echo = await deliver(scene, { path: '/echo', rawBody, headers });
    expect(JSON.parse(echo.body)).toEqual({ body: JSON.parse(Buffer.from(rawBody).toString()) });
    const csv = await deliver(scene, {
      path: '/echo',
      rawBody: 'a,b',
      headers: { 'content-type': 'text/csv' },
    });
    expect(csv.body).toBe('{"body":["a","b"]}');
    const unknown = await deliver(scene, {
      path: '/echo',
      rawBody: 'a',
      headers: { 'content-type': 'text/html' },
    });
    expect(unknown.status).toBe(415);
    expect(await deliver(scene, { rawBody, headers })).toMatchObject({ status: 200 });
  });

  it("is not reached by the application's own parsers", () =>
    expectProcessed((options) =>
      start(options, (app) => {
        const refuse = () => {
          throw new Error('Parsed by the application');
        };
        app.removeContentTypeParser('application/json');
        app.addContentTypeParser('application/json', { parseAs: 'string' }, refuse);
        app.addContentTypeParser('*', refuse);
        app.addContentTypeParser(/^.*$/, refuse);
      }),
    ));

  it('does not mind a bodyLimit of the application', async () => {
    const makeServer: MakeServer = async (options) => {
      const app = createApp({ bodyLimit: 10 });
      app.register(callbackPlugin, { path: PATH, ...options });
      await app.ready();
      onTestFinished(() => app.close());
      return app.server;
    };
    await expectProcessed(makeServer);
  });

  it('is mounted below its prefix, and twice', async () => {
    const scene = await openScene(async (options) =>
      start(
        options,
        (app) => void app.register(callbackPlugin, { prefix: '/b', path: '/in', ...options }),
        { prefix: '/a', path: '/in' },
      ),
    );
    expect(await deliver(scene, { ...sign(), path: '/a/in' })).toMatchObject({ status: 200 });
    expect(await deliver(scene, { ...sign(), path: '/b/in' })).toMatchObject({ status: 200 });
    expect(await deliver(scene, { ...sign(), path: '/in' })).toMatchObject({ status: 404 });
    expect(scene.callbacks).toHaveLength(2);
  });

  it('reads the stream that a preParsing hook puts in place of the payload', () =>
    expectProcessed((options) =>
      start(options, (app) => {
        app.addHook('preParsing', async (_request, _reply, payload) => {
          const bytes = await readPayload(payload);
          return Readable.from([bytes.subarray(0, 9), bytes.subarray(9)], { objectMode: false });
        });
      }),
    ));

  it('works behind a hook that keeps the bytes as rawBody', () =>
    expectProcessed((options) =>
      start(options, (app) => {
        app.addHook('preParsing', async (request, _reply, payload) => {
          Object.assign(request, { rawBody: await readPayload(payload) });
          return payload;
        });
      }),
    ));

  it('fails at once behind a hook that has read the payload', () =>
    expectRemedy(
      (options) =>
        start(options, (app) => {
          app.addHook('preParsing', async (_request, _reply, payload) => {
            await readPayload(payload);
            return payload;
          });
        }),
      'Mount the handler before the body parser',
    ));

  it('leaves alone a reply that another handler has sent', async () => {
    const started = createGate<void>();
    const finish = createGate<void>();
    const responded = createGate<void>();
    const warnings: string[] = [];
    let sendEarly = (): void => undefined;
    const makeServer: MakeServer = async (options) => {
      const stream = { write: (line: string) => void warnings.push(line) };
      const app = createApp({ logger: { level: 'warn', stream } });
      app.addHook('preHandler', async (_request, reply) => {
        sendEarly = () => void reply.code(504).send('late');
      });
      app.register(callbackPlugin, { path: PATH, ...options });
      await app.ready();
      onTestFinished(() => app.close());
      return app.server;
    };
    const scene = await openScene(makeServer, {
      async onPayment() {
        started.open();
        await finish.promise;
        setImmediate(responded.open);
      },
    });
    const callback = sign();
    const reply = deliver(scene, callback);
    await started.promise;
    sendEarly();
    expect(await reply).toMatchObject({ status: 504, body: 'late' });
    finish.open();
    await responded.promise;
    expect(warnings).toEqual([]);
    expect(await deliver(scene, callback)).toMatchObject({ status: 200 });
    expect(scene.callbacks).toHaveLength(1);
    expect(scene.reported).toEqual([]);
  });

  it.each([
    ['path', { path: undefined }],
    ['path', { path: 'callbacks' }],
    ['onPayment', { onPayment: undefined }],
    ['onStal', { onStal: 'process' }],
  ])('refuses to start with a wrong %s: %o', async (option, wrong) => {
    const app = createApp();
    const options = { path: PATH, signingSecret: 'a', onPayment: () => undefined };
    app.register(callbackPlugin, { ...options, ...(wrong as object) });
    await expect(app.ready()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option,
      message: expect.stringContaining(option),
    });
    await app.close();
  });

  it("takes Fastify's own options for a plugin", async () => {
    const app = createApp();
    onTestFinished(() => app.close());
    const options = { path: PATH, signingSecret: SECRET, onPayment: () => undefined };
    app.register(callbackPlugin, { ...options, prefix: '/a', logLevel: 'warn' });
    app.register(callbackPlugin, { ...options, prefix: '/b', logSerializers: {} });
    await app.ready();
  });

  it('is closed when no work is under way', async () => {
    const app = createApp();
    const started = createGate<void>();
    const gate = createGate<void>();
    app.register(callbackPlugin, {
      path: PATH,
      signingSecret: SECRET,
      onPayment() {
        started.open();
        return gate.promise;
      },
    });
    const { rawBody, headers } = sign();
    const payload = Buffer.from(rawBody);
    const reply = app.inject({ method: 'POST', url: PATH, headers, payload }).then((one) => one);
    await started.promise;
    let isClosed = false;
    const closing = app.close().then(() => {
      isClosed = true;
    });
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    gate.open();
    await closing;
    expect(await reply).toMatchObject({ statusCode: 200 });
  });

  it('is closed though work never ends', async () => {
    const app = createApp();
    app.register(callbackPlugin, {
      path: PATH,
      signingSecret: SECRET,
      onPaymentTimeoutMs: 1,
      onPayment: () => new Promise(() => {}),
      onError: () => undefined,
    });
    const { rawBody, headers } = sign();
    const payload = Buffer.from(rawBody);
    const reply = await app.inject({ method: 'POST', url: PATH, headers, payload });
    expect(reply.statusCode).toBe(500);
    await app.close();
  });
});

async function readPayload(payload: unknown): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of payload as Readable) chunks.push(chunk);
  return Buffer.concat(chunks);
}
