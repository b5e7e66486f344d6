import { createServer } from 'node:http';
import { createCallbackVerifier } from '../dist/callback/index.js';
import { memoryInbox } from '../dist/inbox/index.js';
import { callbackHandler } from '../dist/node/index.js';

// A merchant's endpoint for receiver.mjs, in a separate process.
const [kind, signingSecret, databaseUrl, redisUrl] = process.argv.slice(2);

const readBody = (request, whenRead) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => whenRead(Buffer.concat(chunks)));
};

const withInbox = (inbox, onPayment = () => {}) =>
  callbackHandler({ signingSecret, inbox, onPayment });

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
    return withInbox(memoryInbox());
  },
  async redis() {
    const { Redis } = await import('ioredis');
    const { redisInbox } = await import('../dist/inbox/redis/index.js');
    const prefix = `merchant-payments-bench-${process.pid}:`;
    return withInbox(redisInbox(new Redis(redisUrl), { prefix, retentionMs: 60_000 }));
  },
  async postgres() {
    const { default: pg } = await import('pg');
    const { postgresInbox } = await import('../dist/inbox/postgres/index.js');
    const pool = new pg.Pool({ connectionString: databaseUrl });
    const prefix = `bench_${process.pid}_`;
    const inbox = postgresInbox(pool, { prefix });
    await inbox.setup();
    cleanUp = () => pool.query(`DROP TABLE ${prefix}payments, ${prefix}events`);
    return withInbox(inbox, (_callback, { tx }) => tx.query('SELECT 1'));
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
