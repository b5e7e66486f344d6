// A shop's process that has committed an order and creates its payment, by each outbox as its guide writes it. It is
// started again after it was killed, and carries on.
import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { callbackHandler } from '../../dist/fetch/index.js';
import { PaymentClient } from '../../dist/index.js';
import { postgresStore } from '../../dist/postgres/index.js';
import { signCallback } from '../../dist/testing/index.js';

const order = { merchantPaymentReference: 'order-1', amount: 2500, currency: 'EUR' };
const QUEUE = 'payments';
const WORKFLOW_ID = order.merchantPaymentReference;
const signingSecret = 'signing-secret-of-the-field';

/** The call that a step makes: with a key of the order, which a service may recognise. */
async function callService(serviceUrl) {
  const response = await fetch(`${serviceUrl}/api/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': WORKFLOW_ID },
    body: JSON.stringify(order),
  });
  if (!response.ok) throw new Error(`The service answered ${response.status}`);
  return (await response.json()).referenceNumber;
}

/**
 * `start` creates the payment of the order; `resume` is what the next process does; `look` says what the shop knows.
 *
 * @type {Record<string, { package: string, needsKeys?: boolean, open(urls: object): Promise<object> }>}
 */
export const outboxes = {
  DBOS: {
    package: '@dbos-inc/dbos-sdk',
    async open({ databaseUrl, serviceUrl }) {
      const logger = Object.fromEntries(
        ['debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]),
      );
      DBOS.setConfig({ name: 'field', systemDatabaseUrl: databaseUrl, logger });
      const pay = DBOS.registerWorkflow(
        () => DBOS.runStep(() => callService(serviceUrl), { name: 'create', retriesAllowed: true }),
        { name: 'pay' },
      );
      await DBOS.launch(); // recovers what was under way
      return {
        start: () => DBOS.startWorkflow(pay, { workflowID: WORKFLOW_ID })(),
        resume: () => undefined,
        async look() {
          const { status, output } = (await DBOS.getWorkflowStatus(WORKFLOW_ID)) ?? {};
          return { state: status, knows: output ?? undefined, isAtRest: status === 'SUCCESS' };
        },
      };
    },
  },
  'pg-boss': {
    package: 'pg-boss',
    async open({ databaseUrl, serviceUrl }) {
      // A job of a dead worker is retried when it has expired, by default after 15 minutes; here after 2 seconds.
      const boss = new PgBoss({
        connectionString: databaseUrl,
        superviseIntervalSeconds: 1,
        monitorIntervalSeconds: 1,
      });
      boss.on('error', () => undefined);
      await boss.start();
      await boss.createQueue(QUEUE, { expireInSeconds: 2, retryLimit: 3 });
      const id = '00000000-0000-4000-8000-000000000001';
      const work = () => boss.work(QUEUE, () => callService(serviceUrl));
      return {
        async start() {
          await boss.send(QUEUE, order, { id });
          await work();
        },
        resume: work,
        async look() {
          const [{ state, output } = {}] = await boss.findJobs(QUEUE, { id });
          return {
            state,
            knows: output?.value ?? output ?? undefined,
            isAtRest: state === 'completed',
          };
        },
      };
    },
  },
  'merchant-payments': { package: 'merchant-payments', open: (urls) => openOurs(urls) },
  'merchant-payments, keys': {
    package: 'merchant-payments',
    needsKeys: true,
    open: (urls) => openOurs(urls, { idempotency: { header: 'idempotency-key' } }),
  },
};

async function openOurs({ databaseUrl, serviceUrl }, clientOptions = {}) {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  pool.on('error', () => undefined);
  const client = new PaymentClient({
    baseUrl: serviceUrl,
    apiKey: 'key',
    apiSecret: 'secret',
    timeoutMs: 1_000,
    ...clientOptions,
  });
  // A payment of a dead process is unresolved when its lease has ended, by default after 40 seconds; here after 2.
  const store = postgresStore(pool, { client, leaseMs: 2_000 });
  await store.setup();
  const isSentAgain = clientOptions.idempotency !== undefined;
  return {
    start: () => store.create(order),
    resume: () => store.startRecovery({ everyMs: 500 }),
    async look() {
      const { state, payment } = (await store.get(WORKFLOW_ID)) ?? {};
      const isAtRest = state === 'created' || (state === 'unresolved' && !isSentAgain);
      return { state, knows: payment?.referenceNumber, isAtRest };
    },
    // Its callback arrives at the shop's endpoint.
    async hear(referenceNumber) {
      const payment = { ...order, referenceNumber, status: 'paid' };
      const { rawBody, headers } = signCallback({ payment, signingSecret });
      const handle = callbackHandler({ signingSecret, store, onPayment: () => undefined });
      await handle(
        new Request('https://shop.example/', { method: 'POST', body: rawBody, headers }),
      );
    },
  };
}
