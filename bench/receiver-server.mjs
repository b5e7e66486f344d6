import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createCallbackVerifier } from '../dist/callback/index.js';
import { callbackHandler as fetchHandler } from '../dist/fetch/index.js';
import { callbackHandler } from '../dist/node/index.js';
import { memoryStore } from '../dist/store/index.js';

// A merchant's endpoint for receiver.mjs, in a separate process.
const [kind, signingSecret, databaseUrl, redisUrl] = process.argv.slice(2);

const readBody = (request, whenRead) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => whenRead(Buffer.concat(chunks)));
};

const withStore = (store, onPayment = () => {}) =>
  callbackHandler({ signingSecret, store, onPayment });

/** A handler of Fetch requests behind node:http, as the adapters of frameworks do it. */
const behindNode = (handle) => async (incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const request = new Request(`http://${headers.host}${url}`, {
    method,
    headers,
    body: Readable.toWeb(incoming),
    duplex: 'half',
  });
  const { status } = await handle(request);
  outgoing.writeHead(status, { 'content-length': 0 }).end();
};

/** A route of Fastify, as the handler of a server. */
async function fastifyHandler(register) {
  const { default: fastify } = await import('fastify');
  let handler;
  const app = fastify({
    serverFactory: (route) => {
      handler = route;
      return createServer();
    },
  });
  await register(app);
  await app.ready();
  return handler;
}

const PATH = '/callbacks/payments';

/** Every competitor as a function that makes its request handler. */
const handlers = {
  async bare() {
    return (request, response) => readBody(request, () => response.end());
  },
  async verify() {
    const verify = createCallbackVerifier({ signingSecret });
    return (request, response) =>
      readBody(request, (rawBody) => {
        verify({ rawBody, headers: request.headers });
        response.end();
      });
  },
  async memory() {
    return withStore(memoryStore());
  },
  async 'fetch-bare'() {
    return behindNode(async (request) => {
      await request.arrayBuffer();
      return new Response();
    });
  },
  async fetch() {
    return behindNode(fetchHandler({ signingSecret, store: memoryStore(), onPayment() {} }));
  },
  async 'fastify-bare'() {
    return fastifyHandler((app) => {
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
        done(null, body),
      );
      app.post(PATH, async (_request, reply) => reply.send());
    });
  },
  async fastify() {
    const { callbackPlugin } = await import('../dist/fastify/index.js');
    const options = { path: PATH, signingSecret, store: memoryStore(), onPayment() {} };
    return fastifyHandler((app) => app.register(callbackPlugin, options));
  },
  async redis() {
    const { Redis } = await import('ioredis');
    const { redisStore } = await import('../dist/redis/index.js');
    const prefix = `merchant-payments-bench-${process.pid}:`;
    return withStore(redisStore(new Redis(redisUrl), { prefix, retentionMs: 60_000 }));
  },
  async postgres() {
    const { default: pg } = await import('pg');
    const { postgresStore } = await import('../dist/postgres/index.js');
    const pool = new pg.Pool({ connectionString: databaseUrl });
    const prefix = `bench_${process.pid}_`;
    const store = postgresStore(pool, { prefix });
    await store.setup();
    cleanUp = () =>
      pool.query(
        `DROP TABLE ${prefix}payments, ${prefix}changes, ${prefix}failed_changes, ${prefix}second_payments`,
      );
    return withStore(store, (_callback, { tx }) => tx.query('SELECT 1'));
  },
};

let cleanUp = async () => {};

const server = createServer(await handlers[kind]());
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.once('disconnect', async () => {
  await cleanUp();
  process.exit();
});
