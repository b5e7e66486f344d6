import diagnostics from 'node:diagnostics_channel';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient, failureOf, order, record, transports } from './raw-server.js';

// Answers each request at once, from another thread, and tells by `answered[0]` how many.
const SERVER = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const { answered, answer } = workerData;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write(answer, () => {
      Atomics.add(answered, 0, 1);
      Atomics.notify(answered, 0);
    }));
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

async function startServerThread(answer: string) {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SERVER, { eval: true, workerData: { answered, answer } });
  onTestFinished(async () => void (await worker.terminate()));
  const port = await new Promise((resolve) => worker.once('message', resolve));
  return { url: `http://127.0.0.1:${port}`, answered };
}

/** Keeps this thread busy from the moment the server has answered until the time has passed. */
function stall(answered: Int32Array, count: number, endsAtMs: number): void {
  while (Atomics.load(answered, 0) < count) Atomics.wait(answered, 0, count - 1);
  while (performance.now() <= endsAtMs);
}

/** Settles when the next request has been written, by either transport. */
function requestSent(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      diagnostics.unsubscribe('undici:client:sendHeaders', end);
      setImmediate(resolve);
    };
    diagnostics.subscribe('undici:client:sendHeaders', end);
  });
}

const head = 'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ';
const json = JSON.stringify(record);
const timeoutMs = 500;

describe.each(transports)('with $name, while the event loop stands still,', ({ options }) => {
  it('an answer that arrived before the deadline is no timeout', async () => {
    const { url, answered } = await startServerThread(`${head}${json.length}\r\n\r\n${json}`);
    const client = createClient(url, options);
    // Loads what is loaded once, and leaves a connection.
    await client.payments.create(order);
    const sent = requestSent();
    const call = client.payments.create(order, { timeoutMs });
    const endsAtMs = performance.now() + timeoutMs;
    await sent;
    stall(answered, 2, endsAtMs);
    expect((await call).payment).toEqual(record);
  });

  it('an answer whose body is missing is a timeout all the same', async () => {
    const { url, answered } = await startServerThread(`${head}500\r\n\r\n${json}`);
    const client = createClient(url, options);
    const failure = failureOf(client.payments.create(order, { timeoutMs }));
    const endsAtMs = performance.now() + timeoutMs;
    while (Atomics.load(answered, 0) === 0) await new Promise(setImmediate);
    stall(answered, 1, endsAtMs);
    expect(await failure).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'accepted' });
  });
});
