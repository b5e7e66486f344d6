import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { inFlight } from './in-flight.mjs';
import { median } from './paired-batches.mjs';
import { atLeast, atMost, isStarted, plainRow, report } from './report.mjs';

const entry = new URL('../dist/mock-server/index.js', import.meta.url).href;
const here = fileURLToPath(new URL('.', import.meta.url));

const ROUNDS = 31;
const PAYMENTS = 10_000;
const BATCH = 2_000;
const PAIRS = 9;

const mockCode = `
  import { startMockServer } from ${JSON.stringify(entry)};
  const server = await startMockServer();
  await server.close();`;
const bareCode = `
  import { createServer } from 'node:http';
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise((resolve) => server.close(resolve));`;

/** The mock service: what starting one adds to a process, and the memory of 10,000 payments. */
export async function measureMockServer() {
  const mock = measureStart(mockCode);
  const bare = measureStart(bareCode);
  return {
    title:
      'mock-server: started and closed in a fresh process; 10,000 payments paid and called back',
    rows: [
      atMost('start, beyond an empty process', mock, 45, ' ms'),
      plainRow('  a bare node:http server, beyond an empty process', bare, ' ms'),
      atMost('largest memory of the process, endpoint answers 200', await hold('up'), 140, ' MiB'),
      atMost('  the same, endpoint down, retries pending', await hold('down'), 220, ' MiB'),
      atLeast(
        'creations per second of CPU, ratio to a bare node:http server',
        await measureCreations(),
        0.35,
      ),
    ],
  };
}

function measureStart(code) {
  const beyondEmpty = [];
  // The first round fills the disk cache and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = timeProcess('');
    const started = timeProcess(code);
    const after = timeProcess('');
    if (round > 0) beyondEmpty.push(started - (before + after) / 2);
  }
  return median(beyondEmpty);
}

function timeProcess(code) {
  const startedAt = performance.now();
  execFileSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: here });
  return performance.now() - startedAt;
}

/** The mock is in a process of its own, so that the memory is its alone: not that of the endpoint and the client. */
async function hold(endpoint) {
  const merchant = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  await new Promise((resolve) => merchant.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${merchant.address().port}/callbacks`;
  if (endpoint === 'down') merchant.close();
  const { server, create } = await startMock(url);
  await inFlight(create)(PAYMENTS);
  let used = await usageOf(server);
  while (used.attempts < PAYMENTS) used = await usageOf(server);
  server.disconnect();
  merchant.closeAllConnections();
  merchant.close();
  return used.maxRssKib / 1024;
}

/** A mock in a separate process, and a function that creates a payment. */
async function startMock(...args) {
  const server = fork(join(here, 'mock-server-process.mjs'), args);
  const [{ url, apiKey, apiSecret }] = await once(server, 'message');
  return { server, create: createAt(url, `Basic ${btoa(`${apiKey}:${apiSecret}`)}`) };
}

function createAt(url, authorization) {
  const headers = { authorization, 'content-type': 'application/json' };
  let count = 0;
  return async () => {
    count += 1;
    const order = { merchantPaymentReference: `order-${count}`, amount: count, currency: 'EUR' };
    const body = JSON.stringify(order);
    const answer = await request(`${url}/api/payments`, { method: 'POST', headers, body });
    await answer.body.dump();
  };
}

/** How many creations the mock answers in the CPU time in which a bare server answers one. */
async function measureCreations() {
  const bare = fork(join(here, 'client-server.mjs'));
  const [port] = await once(bare, 'message');
  const { server: mock, create } = await startMock();
  const batches = {
    mock: { server: mock, run: inFlight(create) },
    bare: { server: bare, run: inFlight(createAt(`http://127.0.0.1:${port}`, 'Basic bm8=')) },
  };
  const cost = async ({ server, run }) => {
    const before = await cpuOf(server);
    await run(BATCH);
    return (await cpuOf(server)) - before;
  };
  const ratios = [];
  for (let pair = 0; pair <= PAIRS; pair += 1) {
    const least = await cost(batches.bare);
    const ratio = least / (await cost(batches.mock));
    // The first pair warms both up.
    if (pair > 0) ratios.push(ratio);
  }
  mock.disconnect();
  bare.disconnect();
  return median(ratios);
}

async function usageOf(server) {
  server.send('usage');
  const [used] = await once(server, 'message');
  return used;
}

async function cpuOf(server) {
  const used = await usageOf(server);
  const { user, system } = used.cpu ?? used;
  return user + system;
}

if (isStarted(import.meta.url)) report([await measureMockServer()]);
