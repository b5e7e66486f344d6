import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { median } from './paired-batches.mjs';
import { atMost, isStarted, plainRow, report } from './report.mjs';

const entry = new URL('../dist/mock-server/index.js', import.meta.url).href;
const here = fileURLToPath(new URL('.', import.meta.url));

const ROUNDS = 31;
const PAYMENTS = 100_000;
const IN_FLIGHT = 16;

const startMock = `
  import { startMockServer } from ${JSON.stringify(entry)};
  const server = await startMockServer();
  await server.close();`;
const startBare = `
  import { createServer } from 'node:http';
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise((resolve) => server.close(resolve));`;

/** The mock service: what starting one adds to a process, and the memory of 100,000 payments. */
export async function measureMockServer() {
  const mock = measureStart(startMock);
  const bare = measureStart(startBare);
  return {
    title:
      'mock-server: started and closed in a fresh process; 100,000 payments paid and called back',
    rows: [
      atMost('start, beyond an empty process', mock, 50, ' ms'),
      plainRow('  a bare node:http server, beyond an empty process', bare, ' ms'),
      atMost('largest memory of the process, endpoint answers 200', await hold('up'), 512, ' MiB'),
      plainRow('  the same, endpoint down, retries pending', await hold('down'), ' MiB'),
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

const served = await serveMeasurement(measureMemory);
if (!served && isStarted(import.meta.url)) report([await measureMockServer()]);
