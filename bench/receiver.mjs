import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { signCallback } from '../dist/testing/index.js';
import { median } from './paired-batches.mjs';
import { atLeast, isStarted, plainRow, report } from './report.mjs';

const CONNECTIONS = 16;
const PAIRS = 9;
const WARM_UP_CALLBACKS = 3000;

const signingSecret = 'whsec_of_the_bench';
const databaseUrl =
  process.env.DATABASE_URL ?? `postgres://${userInfo().username}@127.0.0.1:5432/test`;
const redisUrl = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

/** Requests as bytes, each for a different payment, so that none is a duplicate. */
function createRequests(count) {
  return Array.from({ length: count }, () => {
    const { rawBody, headers } = signCallback({ payment: { status: 'paid' }, signingSecret });
    const all = { host: 'shop.example', 'content-length': rawBody.length, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.concat([
      Buffer.from(`POST /callbacks/payments HTTP/1.1\r\n${lines.join('')}\r\n`),
      rawBody,
    ]);
  });
}

/** Sends the requests over sixteen connections, each as soon as the one before is answered; per second. */
async function send(port, requests) {
  let next = 0;
  const sockets = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect(port, '127.0.0.1').setNoDelay();
      await once(socket, 'connect');
      return socket;
    }),
  );
  const startedAtMs = performance.now();
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve, reject) => {
          const sendNext = () => {
            if (next < requests.length) socket.write(requests[next++]);
            else resolve();
          };
          socket.on('data', (answer) => {
            // Every answer is small enough to come in one piece.
            const status = answer.toString('latin1', 9, 12);
            if (status === '200') sendNext();
            else reject(new Error(`answered ${status}`));
          });
          socket.once('error', reject);
          sendNext();
        }),
    ),
  );
  const seconds = (performance.now() - startedAtMs) / 1000;
  for (const socket of sockets) socket.destroy();
  return requests.length / seconds;
}

async function startServer(kind) {
  const file = fileURLToPath(new URL('./receiver-server.mjs', import.meta.url));
  const server = fork(file, [kind, signingSecret, databaseUrl, redisUrl], { silent: true });
  const [port] = await Promise.race([
    once(server, 'message'),
    once(server, 'exit').then(() => [undefined]),
  ]);
  if (port === undefined) return undefined;
  return {
    port,
    async stop() {
      server.disconnect();
      await once(server, 'exit');
    },
  };
}

/** Requests per second as a ratio to a bare handler's; undefined when the store is not there. */
async function measure(kind, callbacks, bareKind = 'bare') {
  const server = await startServer(kind);
  if (server === undefined) return undefined;
  const bare = await startServer(bareKind);
  try {
    for (const { port } of [bare, server]) await send(port, createRequests(WARM_UP_CALLBACKS));
    const ratios = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const floor = await send(bare.port, createRequests(callbacks));
      ratios.push((await send(server.port, createRequests(callbacks))) / floor);
    }
    return median(ratios);
  } catch (error) {
    // A store that is configured but does not answer.
    if (kind === 'redis' || kind === 'postgres') return undefined;
    throw error;
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}

/** Receiving callbacks over HTTP, as a ratio of requests per second to a handler that does nothing. */
export async function measureReceiver() {
  const stores = {
    'callbackHandler, redisStore (ioredis)': await measure('redis', 2000),
    'callbackHandler, postgresStore, one statement through tx': await measure('postgres', 1000),
  };
  return {
    title: `receiver: a callback over HTTP, ${CONNECTIONS} connections, requests per second, ratio to a bare node:http handler that reads the body and answers 200`,
    rows: [
      plainRow('bare handler', 1),
      plainRow('bare handler + createCallbackVerifier', await measure('verify', 4000)),
      atLeast('callbackHandler, memoryStore', await measure('memory', 4000), 0.45),
      plainRow(
        'callbackHandler of ./fetch, ratio to a bare Fetch handler behind the same server',
        await measure('fetch', 2000, 'fetch-bare'),
      ),
      plainRow(
        'callbackPlugin of ./fastify, ratio to a bare route of Fastify',
        await measure('fastify', 4000, 'fastify-bare'),
      ),
      ...Object.entries(stores).map(([subject, value]) =>
        value === undefined ? { subject, figure: 'none found' } : plainRow(subject, value),
      ),
    ],
  };
}

if (isStarted(import.meta.url)) report([await measureReceiver()]);
