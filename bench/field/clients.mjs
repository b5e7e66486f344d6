// Every client as its guide sets it up, but for its address and deadline: 1 s for an attempt, or where a client has one
// deadline for the whole call, 3 s. Retries are each client's own defaults, or what its guide shows.
import { createMollieClient } from '@mollie/api-client';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import got from 'got';
import OpenAI from 'openai';
import { SquareClient } from 'square';
import Stripe from 'stripe';
import { PaymentClient } from '../../dist/index.js';
import { memoryStore } from '../../dist/store/index.js';

const ATTEMPT_MS = 1_000;
const CALL_MS = 3_000;
const amount = 2500;

/** @typedef {{ order: string, key?: string }} Click */
/** @typedef {{ name: string, package: string, needsKeys?: boolean, needsTls?: boolean, open(url: string): (click: Click) => Promise<unknown> }} Subject */

const payment = ({ order }) => ({ merchantPaymentReference: order, amount, currency: 'EUR' });
const keyHeader = ({ key }) => (key === undefined ? {} : { 'idempotency-key': key });

/** Each call resolves with the number of the payment that the answer names. */
const clients = [
  {
    name: 'stripe',
    package: 'stripe',
    open(url) {
      const { hostname: host, port } = new URL(url);
      const stripe = new Stripe('sk_test_field', {
        host,
        port,
        protocol: 'http',
        timeout: ATTEMPT_MS,
      });
      return async ({ order, key }) => {
        const input = { amount, currency: 'eur', metadata: { order } };
        const options = key === undefined ? {} : { idempotencyKey: key };
        return (await stripe.paymentIntents.create(input, options)).id;
      };
    },
  },
  {
    name: 'square',
    package: 'square',
    open(url) {
      const square = new SquareClient({ token: 'field', baseUrl: url });
      const amountMoney = { amount: BigInt(amount), currency: 'EUR' };
      return async ({ order, key = crypto.randomUUID() }) => {
        const input = { sourceId: 'cnon:ok', idempotencyKey: key, amountMoney, referenceId: order };
        const options = { timeoutInSeconds: ATTEMPT_MS / 1_000 };
        return (await square.payments.create(input, options)).payment?.id;
      };
    },
  },
  {
    name: 'mollie',
    package: '@mollie/api-client',
    needsTls: true,
    open(url) {
      const apiKey = `test_${'0'.repeat(30)}`;
      const mollie = createMollieClient({ apiKey, apiEndpoint: `${url}/v2/` });
      return async ({ order, key }) => {
        const input = {
          amount: { currency: 'EUR', value: '25.00' },
          description: order,
          redirectUrl: 'https://shop.example/',
          ...(key !== undefined && { idempotencyKey: key }),
        };
        return (await mollie.payments.create(input)).id;
      };
    },
  },
  {
    name: 'openai',
    package: 'openai',
    open(url) {
      const client = new OpenAI({ apiKey: 'sk-field', baseURL: url, timeout: ATTEMPT_MS });
      return async (click) =>
        (await client.post('/api/payments', { body: payment(click), headers: keyHeader(click) }))
          ?.id;
    },
  },
  {
    name: 'axios',
    package: 'axios',
    open: (url) => callAxios(axios.create({ baseURL: url, timeout: ATTEMPT_MS })),
  },
  {
    name: 'axios + axios-retry',
    package: 'axios-retry',
    open(url) {
      const client = axios.create({ baseURL: url, timeout: ATTEMPT_MS });
      axiosRetry(client, { retries: 3 });
      return callAxios(client);
    },
  },
  {
    name: 'got',
    package: 'got',
    open: (url) => callGot(got.extend({ prefixUrl: url, timeout: { request: ATTEMPT_MS } })),
  },
  {
    name: 'got, retry.methods: POST',
    package: 'got',
    open: (url) =>
      callGot(
        got.extend({
          prefixUrl: url,
          timeout: { request: ATTEMPT_MS },
          retry: { methods: ['POST'] },
        }),
      ),
  },
];

const ours = { package: 'merchant-payments' };
const openOurs = (url, options) =>
  new PaymentClient({
    baseUrl: url,
    apiKey: 'key',
    apiSecret: 'secret',
    timeoutMs: CALL_MS,
    ...options,
  });
const keyOptions = { idempotency: { header: 'idempotency-key' } };

function callOurs(client) {
  return async (click) => (await client.payments.create(payment(click))).payment.referenceNumber;
}

/** @type {Subject[]} */
export const subjects = [
  ...clients,
  { name: 'merchant-payments', ...ours, open: (url) => callOurs(openOurs(url)) },
  {
    name: 'merchant-payments, keys',
    ...ours,
    needsKeys: true,
    open: (url) => callOurs(openOurs(url, keyOptions)),
  },
];

/** Who is called for every click of a customer: the same clients, and this package's store. */
export const clickedSubjects = [
  ...clients,
  { name: 'merchant-payments', ...ours, open: (url) => callStore(openOurs(url)) },
];

function callAxios(client) {
  return async (click) => {
    const headers = keyHeader(click);
    return (await client.post('/api/payments', payment(click), { headers })).data?.referenceNumber;
  };
}

function callGot(client) {
  return async (click) => {
    const options = { json: payment(click), headers: keyHeader(click) };
    return (await client.post('api/payments', options).json())?.referenceNumber;
  };
}

function callStore(client) {
  const store = memoryStore({ client });
  return async (click) => {
    const stored = await store.create(payment(click));
    if (stored.error !== undefined) throw stored.error;
    if (stored.state === 'created') return stored.payment?.referenceNumber;
    throw Object.assign(new Error(stored.state), { requestOutcome: 'unknown' });
  };
}

/**
 * What a caller can conclude from an error: `created`, `not created` or `unknown`. This package's errors say so. For the
 * others, this is how someone who knows payments reads what they document, in the chain of causes too.
 */
export function read(error) {
  if (error.requestOutcome !== undefined) return outcomes[error.requestOutcome];
  const links = chain(error);
  const status = links.map(statusOf).find((found) => typeof found === 'number');
  if (status !== undefined && status >= 400 && status < 500 && status !== 408) return 'not created';
  if (status !== undefined) return 'unknown';
  return links.some(({ code }) => code === 'ECONNREFUSED') ? 'not created' : 'unknown';
}

const outcomes = {
  accepted: 'created',
  rejected: 'not created',
  'not-sent': 'not created',
  unknown: 'unknown',
};

function statusOf({ status, statusCode, response }) {
  return status ?? statusCode ?? response?.status ?? response?.statusCode;
}

function chain(error) {
  const links = [];
  for (let link = error; typeof link === 'object' && link !== null && links.length < 8; ) {
    links.push(link);
    link = link.cause ?? link.detail;
  }
  return links;
}
