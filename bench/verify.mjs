import { createHmac, createSecretKey, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { measureInOwnProcess, serveMeasurement } from './own-process.mjs';
import {
  cpuClock,
  LONG_BATCHES,
  measureRatio,
  median,
  SHORT,
  SHORT_BATCHES,
} from './paired-batches.mjs';
import { atMost, behindOurs, isStarted, plainRow, report } from './report.mjs';

const secret = randomBytes(32).toString('base64');
const timestamp = String(Math.floor(Date.now() / 1000));
const body = Buffer.from(
  JSON.stringify({
    referenceNumber: '7d3c9a52-1f0e-4b6a-9c35-2e8b4f10a6d7',
    merchantPaymentReference: 'order-1001',
    providerReference: 'provider-5500-2291-7741-0034',
    status: 'paid',
    createdAt: '2026-11-21T10:15:30+00:00',
    updatedAt: '2026-11-21T10:16:04+00:00',
  }).padEnd(280),
);

// As Node hands them over for a request received through a proxy.
const commonHeaders = {
  host: 'shop.example',
  'user-agent': 'payment-service/1.0',
  accept: '*/*',
  'content-type': 'application/json',
  'content-length': String(body.length),
  'x-forwarded-for': '192.0.2.1',
  'x-forwarded-proto': 'https',
};

const hmac = (key, ...parts) => {
  const digest = createHmac('sha256', key);
  for (const part of parts) digest.update(part);
  return digest;
};

/** The least that verifies a signature: no window, no record. */
function floor() {
  const key = createSecretKey(secret, 'utf8');
  const signature = hmac(key, timestamp, '.', body).digest('hex');
  return () => {
    const computed = createHmac('sha256', key).update(timestamp).update('.').update(body).digest();
    if (!timingSafeEqual(computed, Buffer.from(signature, 'hex'))) throw new Error('mismatch');
  };
}

/** Every competitor as a function that prepares what can be prepared and returns the call. */
const subjects = {
  async ours() {
    const { createCallbackVerifier } = await import('../dist/callback/index.js');
    const verify = createCallbackVerifier({ signingSecret: secret });
    return () => verify(ourRequest());
  },
  async async() {
    const { createAsyncCallbackVerifier } = await import('../dist/callback/index.js');
    const verify = createAsyncCallbackVerifier({ signingSecret: secret });
    return () => verify(ourRequest());
  },
  /** The whole way of a new change through a handler, without HTTP. */
  async receive() {
    const { createCallbackReceiver } = await import('../dist/receiver/index.js');
    const { memoryStore } = await import('../dist/store/index.js');
    // Forgets a payment long before its turn comes again.
    const store = memoryStore({ maxEntries: 1_000 });
    const receiver = createCallbackReceiver({ signingSecret: secret, store, onPayment() {} });
    const requests = Array.from({ length: 20_000 }, otherRequest);
    let next = 0;
    return async () => {
      const { outcome } = await receiver.receive(requests[next++ % requests.length]);
      if (outcome !== 'processed') throw new Error(outcome);
    };
  },
  async key() {
    const { callbackKey } = await import('../dist/callback/index.js');
    const payment = JSON.parse(body);
    return () => callbackKey(payment);
  },
  async stripe() {
    const { default: Stripe } = await import('stripe');
    const stripe = new Stripe('sk_test_bench');
    const header = `t=${timestamp},v1=${hmac(secret, timestamp, '.', body).digest('hex')}`;
    return () => stripe.webhooks.constructEvent(body, header, secret);
  },
  async svix() {
    const { Webhook } = await import('svix');
    const webhook = new Webhook(secret);
    const headers = { ...commonHeaders, ...standardHeaders('svix') };
    return () => webhook.verify(body, headers);
  },
  async standardwebhooks() {
    const { Webhook } = await import('standardwebhooks');
    const webhook = new Webhook(secret);
    const headers = { ...commonHeaders, ...standardHeaders('webhook') };
    return () => webhook.verify(body, headers);
  },
};

const signature = hmac(secret, timestamp, '.', body).digest('hex');
const ourHeaders = { ...commonHeaders, 'x-timestamp': timestamp, 'x-signature': signature };
const ourRequest = () => ({ rawBody: body, headers: ourHeaders });

/** The callback of another payment. */
function otherRequest() {
  const rawBody = Buffer.from(
    String(body).replace(/7d3c9a52[^"]*|order-1001/g, () => randomUUID()),
  );
  const headers = {
    ...ourHeaders,
    'x-signature': hmac(secret, timestamp, '.', rawBody).digest('hex'),
  };
  return { method: 'POST', rawBody, headers };
}

function standardHeaders(prefix) {
  const id = 'msg_2mPqZ4t8vWkXbYcD6eFgH1jK3lN';
  const key = Buffer.from(secret, 'base64');
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: timestamp,
    [`${prefix}-signature`]: `v1,${hmac(key, id, '.', timestamp, '.', body).digest('base64')}`,
  };
}

const synchronousBatch = (call) => (count) => {
  for (let index = 0; index < count; index += 1) call();
};

const awaitedBatch = (call) => async (count) => {
  for (let index = 0; index < count; index += 1) await call();
};

// Sixteen at a time, as a server would: one alone mostly waits for WebCrypto's thread pool.
const awaitingBatch = (call) => async (count) => {
  for (let index = 0; index < count; index += 16) {
    await Promise.all(Array.from({ length: Math.min(16, count - index) }, call));
  }
};

async function measure(name, variant) {
  const call = await subjects[name]();
  const batches = { async: awaitingBatch, receive: awaitedBatch };
  const batch = batches[name] ?? synchronousBatch;
  return measureRatio({
    floor: synchronousBatch(floor()),
    subject: batch(call),
    clock: cpuClock,
    ...(variant === SHORT ? SHORT_BATCHES : LONG_BATCHES),
  });
}

const PROCESSES = 3;

/** Verifying one callback of 280 bytes, as a ratio to the floor. */
export async function measureVerify() {
  const ratios = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < PROCESSES; round += 1) {
    for (const name in subjects) {
      ratios[name].push(await measureInOwnProcess(import.meta.url, name));
    }
  }
  const ratio = (name) => median(ratios[name]);
  const ours = ratio('ours');
  return {
    title:
      'verify: a callback of 280 bytes, CPU per call, ratio to createHmac + timingSafeEqual over the same bytes',
    rows: [
      plainRow('floor (signature only)', 1),
      atMost('createCallbackVerifier (window, signature, parse, record, key)', ours, 1.85),
      plainRow('  of which callbackKey', ratio('key')),
      plainRow('createAsyncCallbackVerifier (WebCrypto)', ratio('async')),
      atMost('receive() with memoryStore, a new change, in process', ratio('receive'), 8),
      behindOurs('stripe constructEvent (window, signature, parse)', ratio('stripe'), ours),
      behindOurs('svix verify (window, signature, parse)', ratio('svix'), ours),
      behindOurs(
        'standardwebhooks verify (window, signature, parse)',
        ratio('standardwebhooks'),
        ours,
      ),
    ],
  };
}

if (!(await serveMeasurement(measure)) && isStarted(import.meta.url)) {
  report([await measureVerify()]);
}
