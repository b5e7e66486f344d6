import { Agent, request } from 'undici';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import {
  cpuClock,
  LONG_BATCHES,
  measureRatio,
  median,
  percentile,
  SHORT,
  SHORT_BATCHES,
} from './paired-batches.mjs';
import { atMost, behindOurs, isStarted, plainRow, report } from './report.mjs';
import { startService } from './service-process.mjs';

const IN_FLIGHT = 16;
const MANY_IN_FLIGHT = 256;

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
  // Nearest to what a client on undici can cost: no deadline, no outcome, no check of what comes in or goes out.
  async dispatch(baseUrl) {
    const agent = new Agent({ connections: 256, pipelining: 1, allowH2: false });
    const options = { origin: baseUrl, path, method: 'POST', headers, body: json };
    return () => new Promise((resolve) => agent.dispatch(options, new LeastHandler(resolve)));
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

/** Gives the answer of one chunk a turn of the loop later, when undici has the connection back. */
class LeastHandler {
  #resolve;
  #chunk;

  constructor(resolve) {
    this.#resolve = resolve;
  }

  onRequestStart() {}

  onResponseStart() {}

  onResponseData(_controller, chunk) {
    this.#chunk = chunk;
  }

  onResponseEnd() {
    queueMicrotask(() => setImmediate(() => this.#resolve(JSON.parse(this.#chunk))));
  }

  onResponseError(_controller, error) {
    throw error;
  }
}

/** Makes calls, so many of them in flight at any moment. */
const concurrentBatch = (call, inFlight) => async (count) => {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
};

async function measure(name, baseUrl, variant) {
  if (variant !== undefined && variant !== SHORT) return measureLatency(name, baseUrl, variant);
  const call = await subjects[name](baseUrl);
  return measureRatio({
    floor: concurrentBatch(floor(baseUrl), IN_FLIGHT),
    subject: concurrentBatch(call, IN_FLIGHT),
    clock: cpuClock,
    ...(variant === SHORT ? SHORT_BATCHES : LONG_BATCHES),
  });
}

const LATENCY_CALLS = 6000;

/** The 99th percentile of the time that a call takes, in milliseconds. */
async function measureLatency(name, baseUrl, inFlight) {
  const call = name === 'undici' ? floor(baseUrl) : await subjects[name](baseUrl);
  const times = [];
  const timed = async () => {
    const startedAt = performance.now();
    await call();
    times.push(performance.now() - startedAt);
  };
  const batch = concurrentBatch(timed, Number(inFlight));
  // Warms the code up and opens the connections.
  await batch(LATENCY_CALLS);
  times.length = 0;
  await batch(LATENCY_CALLS);
  return percentile(times, 0.99);
}

const PROCESSES = 3;

/** The 99th percentiles, each the median of several processes, as ratios to bare undici. */
async function measureLatencies(baseUrl, inFlight) {
  const names = ['undici', 'ours', 'stripe', 'axios', 'fetch'];
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < PROCESSES; round += 1) {
    for (const name of names) {
      times[name].push(await measureInOwnProcess(import.meta.url, name, baseUrl, String(inFlight)));
    }
  }
  const ratio = (name) => median(times[name]) / median(times.undici);
  return names
    .slice(1)
    .map((name) => plainRow(`  99th percentile, ${inFlight} in flight: ${name}`, ratio(name)));
}

/** Creating a payment against a local server, as a ratio of CPU per call to bare undici. */
export async function measureClient() {
  const { baseUrl, stop } = await startService();
  const ratios = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < PROCESSES; round += 1) {
    for (const name in subjects) {
      ratios[name].push(await measureInOwnProcess(import.meta.url, name, baseUrl));
    }
  }
  const latencies = [
    ...(await measureLatencies(baseUrl, IN_FLIGHT)),
    ...(await measureLatencies(baseUrl, MANY_IN_FLIGHT)),
  ];
  stop();
  const ours = median(ratios.ours);
  const peers = Object.keys(subjects).filter((name) => name !== 'ours' && name !== 'dispatch');
  return {
    title: `client: POST of 90 bytes answered with 250, ${IN_FLIGHT} in flight, CPU per call, ratio to undici.request(url) + body.json()`,
    rows: [
      plainRow('undici.request(url) + body.json()', 1),
      atMost('payments.create', ours, 0.85),
      plainRow('Agent.dispatch with the least handler', median(ratios.dispatch)),
      ...peers.map((name) => behindOurs(name, median(ratios[name]), ours)),
      ...latencies,
    ],
  };
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measureClient()]);
}
