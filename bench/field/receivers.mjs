// Every receiver as its guide writes it: verify, do the work, answer. Each returns a listener for node:http, and the
// signer with which its service would send.
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { callbackHandler } from '../../dist/node/index.js';
import { postgresStore } from '../../dist/postgres/index.js';
import { signCallback } from '../../dist/testing/index.js';

const signingSecret = 'signing-secret-of-the-field';
const webhookSecret = `whsec_${Buffer.from('signing-secret-of-the-field-32by').toString('base64')}`;

/**
 * @typedef {{ reference: string, status: string, at: string }} Change
 * @typedef {{ sign(change: Change): Promise<{ body: string | Uint8Array, headers: object }>,
 *   listener(merchant: object): Promise<import('node:http').RequestListener> }} Receiver
 */

/** @type {Record<string, Receiver & { package: string }>} */
export const receivers = {
  octokit: {
    package: '@octokit/webhooks',
    async sign(change) {
      const body = JSON.stringify(change);
      const headers = {
        'x-github-event': 'status',
        'x-github-delivery': idOf(change),
        'x-hub-signature-256': await new Webhooks({ secret: signingSecret }).sign(body),
      };
      return { body, headers };
    },
    async listener({ work }) {
      const webhooks = new Webhooks({ secret: signingSecret });
      webhooks.on('status', ({ payload }) => work(payload));
      return createNodeMiddleware(webhooks, { path: '/' });
    },
  },
  stripe: { package: 'stripe', sign: signStripe, listener: ({ work }) => stripeListener(work) },
  'stripe, ids logged': {
    package: 'stripe',
    sign: signStripe,
    // "You can guard against duplicated event receipts by logging the event IDs you've processed."
    listener: ({ work, pool }) =>
      stripeListener(async (change, id) => {
        const { rowCount } = await pool.query('SELECT FROM seen WHERE id = $1', [id]);
        if (rowCount > 0) return;
        await work(change);
        await pool.query('INSERT INTO seen VALUES ($1) ON CONFLICT DO NOTHING', [id]);
      }),
  },
  'stripe, ids in a transaction': {
    package: 'stripe',
    sign: signStripe,
    // What a careful merchant writes by hand: the id, and the work, in one transaction.
    listener: ({ work, pool }) =>
      stripeListener(async (change, id) => {
        const tx = await pool.connect();
        try {
          await tx.query('BEGIN');
          const insert = 'INSERT INTO seen VALUES ($1) ON CONFLICT DO NOTHING';
          const { rowCount } = await tx.query(insert, [id]);
          if (rowCount > 0) await work(change, { tx });
          await tx.query('COMMIT');
        } catch (error) {
          await tx.query('ROLLBACK');
          throw error;
        } finally {
          tx.release();
        }
      }),
  },
  svix: {
    package: 'svix',
    sign: signWebhook,
    listener: ({ work }) => webhookListener(new SvixWebhook(webhookSecret), work),
  },
  standardwebhooks: {
    package: 'standardwebhooks',
    sign: signWebhook,
    listener: ({ work }) => webhookListener(new StandardWebhook(webhookSecret), work),
  },
  'merchant-payments': {
    package: 'merchant-payments',
    async sign({ reference, status, at }) {
      const payment = {
        referenceNumber: `number-of-${reference}`,
        merchantPaymentReference: reference,
        status,
        updatedAt: at,
      };
      const { rawBody: body, headers } = signCallback({ payment, signingSecret });
      return { body, headers };
    },
    async listener({ work, pool }) {
      const store = postgresStore(pool);
      await store.setup();
      return callbackHandler({
        signingSecret,
        store,
        onError: () => undefined,
        onPayment: ({ payment: { merchantPaymentReference: reference, status } }, context) =>
          work({ reference, status }, context),
      });
    },
  },
};

const idOf = ({ reference, status }) => `evt_${reference}_${status}`;

async function signStripe(change) {
  const payload = JSON.stringify({
    id: idOf(change),
    object: 'event',
    created: Math.floor(Date.parse(change.at) / 1_000),
    type: `payment_intent.${change.status}`,
    data: { object: change },
  });
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: signingSecret });
  return { body: payload, headers: { 'stripe-signature': signature } };
}

async function stripeListener(work) {
  return answering(async (request, body) => {
    const event = Stripe.webhooks.constructEvent(
      body,
      request.headers['stripe-signature'],
      signingSecret,
    );
    return () => work(event.data.object, event.id);
  });
}

async function signWebhook(change) {
  const body = JSON.stringify(change);
  const now = new Date();
  const signature = new StandardWebhook(webhookSecret).sign(idOf(change), now, body);
  const headers = {
    'webhook-id': idOf(change),
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signature,
  };
  return { body, headers };
}

async function webhookListener(webhook, work) {
  return answering(async (request, body) => {
    const change = webhook.verify(body.toString(), request.headers);
    return () => work(typeof change === 'object' ? change : JSON.parse(body));
  });
}

/** The route around the guide's two lines: 400 if the signature is wrong, 500 if the work fails, 200. */
function answering(verify) {
  return async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const run = await verify(request, Buffer.concat(chunks)).catch(() => undefined);
      if (run === undefined) return response.writeHead(400).end();
      await run();
      response.writeHead(200).end();
    } catch {
      response.writeHead(500).end();
    }
  };
}
