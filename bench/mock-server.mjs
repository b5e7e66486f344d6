import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { IN_FLIGHT, inFlight } from './in-flight.mjs';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { median } from './paired-batches.mjs';
import { atLeast, atMost, isStarted, plainRow, report } from './report.mjs';

const entry = new URL('../dist/mock-server/index.js', import.meta.url).href;
const here = fileURLToPath(new URL('.', import.meta.url));

const ROUNDS = 31;
const PAYMENTS = 10_000;
const BATCH = 2_000;
const PAIRS = 9;

const startMock = `
  import { startMockServer } from ${JSON.stringify(entry)};
  const server = await startMockServer();
  await server.close();`;
const startBare = `
  import { createServer } from 'node:http';
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise((resolve) => server.close(resolve));`;

/** The mock service: what starting one adds to a process, and the memory of 10,000 payments. */
export async function measureMockServer() {
  const mock = measureStart(startMock);
  const bare = measureStart(startBare);
  return {
    title:
      'mock-server: started and closed in a fresh process; 10,000 payments paid and called back',
    rows: [
      atMost('start, beyond an empty process', mock, 50, ' ms'),
      plainRow('  a bare node:http server, beyond an empty process', bare, ' ms'),
      atMost('largest memory of the process, endpoint answers 200', await hold('up'), 150, ' MiB'),
      atMost('  the same, endpoint down, retries pending', await hold('down'), 250, ' MiB'),
      atLeast(
        'creations per second of CPU, ratio to a bare node:http server',
        await measureCreations(),
        0.5,
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

/** The endpoint is in this process, so that the other one's memory is the mock's alone. */
async function hold(endpoint) {
  const merchant = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  await new Promise((resolve) => merchant.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${merchant.address().port}/callbacks`;
  if (endpoint === 'down') merchant.close();
  const figure = await measureInOwnProcess(import.meta.url, url);
  merchant.closeAllConnections();
  merchant.close();
  return figure;
}

async function measureMemory(callbackUrl) {
  const { createMockService } = await import(entry);
  const service = createMockService({ callbackUrl });
  const headers = {
    authorization: `Basic ${btoa('key:secret')}`,
    'content-type': 'application/json',
  };
  let begun = 0;
  async function work() {
    while (begun < PAYMENTS) {
      begun += 1;
      const body = JSON.stringify({
        merchantPaymentReference: `order-${begun}`,
        amount: begun,
        currency: 'EUR',
      });
      const request = new Request('http://mock.test/api/payments', {
        method: 'POST',
        headers,
        body,
      });
      const { referenceNumber } = await (await service.fetch(request)).json();
      await service.setStatus(referenceNumber, 'paid');
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const held = service.payments.list().filter(({ status }) => status === 'paid').length;
  if (held !== PAYMENTS) throw new Error(`${held} payments are held, not ${PAYMENTS}`);
  return process.resourceUsage().maxRSS / 1024;
}

/** How many creations the mock answers in the CPU time in which a bare server answers one. */
async function measureCreations() {
  const servers = {
    mock: fork(join(here, 'mock-server-process.mjs')),
    bare: fork(join(here, 'client-server.mjs')),
  };
  const [[mock], [port]] = await Promise.all([
    once(servers.mock, 'message'),
    once(servers.bare, 'message'),
  ]);
  const authorization = `Basic ${btoa(`${mock.apiKey}:${mock.apiSecret}`)}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR' });
  const create = (url) => async () => {
    const answer = await request(`${url}/api/payments`, { method: 'POST', headers, body });
    await answer.body.dump();
  };
  const batches = {
    mock: inFlight(create(mock.url)),
    bare: inFlight(create(`http://127.0.0.1:${port}`)),
  };
  const cost = async (name) => {
    const before = await cpuOf(servers[name]);
    await batches[name](BATCH);
    return (await cpuOf(servers[name])) - before;
  };
  const ratios = [];
  for (let pair = 0; pair <= PAIRS; pair += 1) {
    const bare = await cost('bare');
    const ratio = bare / (await cost('mock'));
    // The first pair warms both up.
    if (pair > 0) ratios.push(ratio);
  }
  for (const server of Object.values(servers)) server.disconnect();
  return median(ratios);
}

async function cpuOf(server) {
  server.send('cpu');
  const [{ user, system }] = await once(server, 'message');
  return user + system;
}

const served = await serveMeasurement(measureMemory);
if (!served && isStarted(import.meta.url)) report([await measureMockServer()]);
