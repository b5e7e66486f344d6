import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import { cpuClock, measureRatio, median } from './paired-batches.mjs';
import { atMost, behindOurs, isStarted, plainRow, report } from './report.mjs';

const IN_FLIGHT = 16;

const path = '/api/payments';
const payment = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
const json = JSON.stringify(payment).padEnd(90);
const headers = {
  authorization: `Basic ${Buffer.from('key:secret').toString('base64')}`,
  'content-type': 'application/json',
};

/** What a merchant would write without an SDK: a URL, and the body as JSON. */
function floor(baseUrl) {
  return async () => {
    const { body } = await request(baseUrl + path, { method: 'POST', headers, body: json });
    return body.json();
  };
}

/** Every competitor as a function that makes its client and returns the call. */
const subjects = {
  async ours(baseUrl) {
    const { PaymentClient } = await import('../dist/index.js');
    const client = new PaymentClient({ baseUrl, apiKey: 'key', apiSecret: 'secret' });
    return () => client.payments.create(payment);
  },
  async stripe(baseUrl) {
    const { default: Stripe } = await import('stripe');
    const { hostname, port } = new URL(baseUrl);
    const stripe = new Stripe('sk_test_bench', {
      host: hostname,
      port,
      protocol: 'http',
      maxNetworkRetries: 0,
      telemetry: false,
    });
    const input = { amount: 2500, currency: 'eur', metadata: { order: 'order-1001-of-the-bench' } };
    return () => stripe.paymentIntents.create(input);
  },
  async openai(baseUrl) {
    const { default: OpenAI } = await import('openai');
    const client = new OpenAI({ apiKey: 'sk-bench', baseURL: baseUrl, maxRetries: 0 });
    return () => client.post(path, { body: payment });
  },
  async square(baseUrl) {
    const { SquareClient } = await import('square');
    const client = new SquareClient({ token: 'bench', baseUrl, maxRetries: 0 });
    const input = {
      sourceId: 'cnon:ok',
      idempotencyKey: 'order-1001',
      amountMoney: { amount: 2500n, currency: 'EUR' },
    };
    return () => client.payments.create(input, { maxRetries: 0 });
  },
  async axios(baseUrl) {
    const { default: axios } = await import('axios');
    const { Agent } = await import('node:http');
    const client = axios.create({ baseURL: baseUrl, headers, httpAgent: new Agent(keepAlive) });
    return () => client.post(path, payment);
  },
  async got(baseUrl) {
    const { got } = await import('got');
    const { Agent } = await import('node:http');
    const agent = { http: new Agent(keepAlive) };
    const client = got.extend({ prefixUrl: baseUrl, headers, agent, retry: { limit: 0 } });
    return () => client.post(path.slice(1), { json: payment }).json();
  },
  async fetch(baseUrl) {
    return async () => {
      const response = await fetch(baseUrl + path, { method: 'POST', headers, body: json });
      return response.json();
    };
  },
};

const keepAlive = { keepAlive: true };

/** Makes calls, sixteen of them in flight at any moment. */
const concurrentBatch = (call) => async (count) => {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
};

async function measure(name, baseUrl) {
  const call = await subjects[name](baseUrl);
  return measureRatio({
    floor: concurrentBatch(floor(baseUrl)),
    subject: concurrentBatch(call),
    clock: cpuClock,
    batchMs: 250,
    pairs: 9,
  });
}

async function startServer() {
  const server = fork(fileURLToPath(new URL('./client-server.mjs', import.meta.url)));
  const port = await new Promise((resolve) => server.once('message', resolve));
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => server.disconnect() };
}

const PROCESSES = 3;

/** Creating a payment against a local server, as a ratio of CPU per call to bare undici. */
export async function measureClient() {
  const { baseUrl, stop } = await startServer();
  const ratios = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < PROCESSES; round += 1) {
    for (const name in subjects) {
      ratios[name].push(await measureInOwnProcess(import.meta.url, name, baseUrl));
    }
  }
  stop();
  const ours = median(ratios.ours);
  const peers = Object.keys(subjects).filter((name) => name !== 'ours');
  return {
    title: `client: POST of 90 bytes answered with 250, ${IN_FLIGHT} in flight, CPU per call, ratio to undici.request(url) + body.json()`,
    rows: [
      plainRow('undici.request(url) + body.json()', 1),
      atMost('payments.create', ours, 0.65),
      ...peers.map((name) => behindOurs(name, median(ratios[name]), ours)),
    ],
  };
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measureClient()]);
}
