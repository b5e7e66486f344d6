// A merchant's program in which something of the merchant's own goes wrong. What is planted comes
// by the environment, since Node prints the source line that threw.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { PaymentClient } from 'merchant-payments';
import { verifyCallback } from 'merchant-payments/callback';
import { createMockService, startMockServer } from 'merchant-payments/mock-server';
import { createCallbackReceiver } from 'merchant-payments/receiver';
import { memoryStore } from 'merchant-payments/store';

const {
  API_KEY: apiKey,
  API_SECRET: apiSecret,
  SIGNING_SECRET: signingSecret,
  CUSTOMER: customer,
} = process.env;
const order = { merchantPaymentReference: 'order-1001', amount: 5, currency: 'EUR' };
const extraBody = { note: customer };
const date = new Date().toISOString().replace('Z', '+00:00');
const rawBody = JSON.stringify({
  referenceNumber: '5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90',
  merchantPaymentReference: 'order-1001',
  providerReference: customer,
  status: 'paid',
  createdAt: date,
  updatedAt: date,
});

function callback(secret = signingSecret) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${rawBody}`).digest('hex');
  return {
    method: 'POST',
    rawBody,
    headers: { 'x-timestamp': timestamp, 'x-signature': signature },
  };
}

async function receive(options, request = callback()) {
  const receiver = createCallbackReceiver({
    signingSecret,
    onPayment: () => undefined,
    ...options,
  });
  const { status } = await receiver.receive(request);
  console.log('answered', status);
}

/** A service that answers with the request it got. */
async function echoing() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { authorization } = request.headers;
    const code = `${authorization} ${body}`;
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code, message: authorization, requestId: body }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  return { baseUrl, apiKey, apiSecret, maxRetries: 0 };
}

const fail = (message) => {
  throw new Error(message);
};

const scenes = {
  'onPayment throws': () => receive({ onPayment: () => fail('the order is locked') }),
  'onPayment never ends': () =>
    receive({ onPayment: () => new Promise(() => undefined), onPaymentTimeoutMs: 1 }),
  'onError and onRejected throw': async () => {
    const options = { onError: () => fail('no log'), onRejected: () => fail('no log') };
    await receive({ ...options, onPayment: () => fail('the order is locked') });
    await receive(options, callback('of another account'));
  },
  'a callback is refused': () => receive({}, callback('of another account')),
  'a store rejects late': () =>
    receive({
      store: {
        async process(_change, work) {
          void work({ tx: undefined, signal: new AbortController().signal, current: true });
          setTimeout(() => Promise.reject(new Error('the store is gone')), 1);
          return { outcome: 'busy' };
        },
      },
    }),
  'a store in memory in production': () => receive({ store: memoryStore() }),
  'a refused callback is not caught': () =>
    verifyCallback({ ...callback('of another account') }, { signingSecret }),
  'a wrong secret is not caught': () =>
    verifyCallback(callback(), { signingSecret: `${signingSecret}\n` }),
  'a wrong client is not caught': () =>
    new PaymentClient({ baseUrl: 'https://payments.example', apiKey, apiSecret: `${apiSecret}\n` }),
  'a failed call is not caught': async () => {
    const client = new PaymentClient(await echoing());
    await client.payments.create(order, { extraBody });
  },
  'a failed call is rejected unheard': async () => {
    const client = new PaymentClient(await echoing());
    void client.payments.create(order, { extraBody });
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  },
  'a logger throws, and one rejects': async () => {
    const options = await echoing();
    const throwing = () => fail('the log is full');
    const rejecting = async () => fail('the log is full');
    for (const level of [throwing, rejecting]) {
      const logger = { debug: level, info: level, warn: level, error: level };
      const client = new PaymentClient({ ...options, logger });
      await client.payments.create(order, { extraBody }).catch(console.error);
    }
  },
  'a client is logged by console': async () => {
    const client = new PaymentClient({ ...(await echoing()), logger: console });
    await client.payments.create(order, { extraBody }).catch(console.error);
    console.log(client);
    console.dir(client, { showHidden: true, depth: null });
  },
  'a listener of the mock throws': async () => {
    const service = createMockService({ apiSecret, signingSecret });
    service.subscribe(() => fail('no screen'));
    service.reset();
  },
  'a mock is printed and not closed': async () => {
    const server = await startMockServer({ apiKey, apiSecret, signingSecret });
    console.log(server, JSON.stringify(server));
    console.dir(server, { showHidden: true });
    throw new Error('the test failed');
  },
};

const scene = process.argv[2] ?? '';
console.log('scene', scene);
await scenes[scene]();
