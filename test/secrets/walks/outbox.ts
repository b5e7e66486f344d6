import type { PaymentClientOptions } from '../../../src/client/options.js';
import { PaymentClient } from '../../../src/client/payment-client.js';
import { memoryStore } from '../../../src/store/memory.js';
import { mysqlStore } from '../../../src/mysql/index.js';
import type { PaymentStore, Resolution } from '../../../src/store/payment-store.js';
import { postgresStore } from '../../../src/postgres/index.js';
import { sqliteStore } from '../../../src/sqlite/index.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { failureOf, now } from '../../callback/sample-callback.js';
import { emptyPglite } from '../../pglite.js';
import { apiKey, apiSecret, authorization, customer, signingText } from '../planted.js';
import type { See, Walks } from '../watch.js';
import { failingDatabase, failingPool } from './inbox.js';
import { record, signed } from './signed-callback.js';

export const order = {
  merchantPaymentReference: `order-${customer}`,
  amount: 2500,
  currency: 'EUR',
};
const other = { ...order, amount: 1 };

const said = `${authorization} ${apiKey}:${apiSecret} ${JSON.stringify(order)}`;
const answers: readonly (() => Response)[] = [
  () => Response.json({ code: 'REFUSED', message: said }, { status: 422 }),
  () => new Response(said, { status: 429 }),
  () => {
    throw new Error(said);
  },
];

/** A client of a service that says what it was sent. */
export function createClient(options: Partial<PaymentClientOptions> = {}): PaymentClient {
  let count = 0;
  return new PaymentClient({
    baseUrl: 'https://payments.invalid',
    apiKey,
    apiSecret,
    maxRetries: 0,
    fetch: async () => (answers[count++ % answers.length] as () => Response)(),
    ...options,
  });
}

/** What it keeps and gives back is the merchant's own; what it says when something fails is looked at. */
async function use(see: See, outbox: PaymentStore): Promise<void> {
  see('the outbox', outbox);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    see('the error of create', await failureOf(() => outbox.create(order)));
  }
  const { error, failure, attempts } = await outbox.create(order);
  see('the error of an unknown outcome', error);
  see('the failure that is kept', failure);
  see('a conflict', await failureOf(() => outbox.create(other)));
  see('a conflict of record', await failureOf(() => outbox.record(other, { tx: undefined })));
  see('an unknown reference', await failureOf(() => outbox.send(`${customer}-2`)));
  see('an invalid input', await failureOf(() => outbox.create({ ...order, currency: customer })));
  const resolve = (resolution: Resolution, seen: unknown) =>
    outbox.resolve(order.merchantPaymentReference, resolution, { attempts: seen as number });
  see('a decision too early', await failureOf(() => resolve('not-created', attempts)));
  see('a decision about other attempts', await failureOf(() => resolve('not-created', 0)));
  see('invalid attempts', await failureOf(() => resolve('not-created', customer)));
  await resolve({ created: { referenceNumber: 'first' } }, attempts);
  see('a state', await failureOf(() => resolve('not-created', attempts)));
  see('the outbox after its use', outbox);
}

const recordOf = (referenceNumber: string) => ({
  ...record,
  merchantPaymentReference: order.merchantPaymentReference,
  referenceNumber,
});

/** A callback for a second payment of one reference. */
async function tellOfSecond(see: See, outbox: PaymentStore): Promise<void> {
  const receiver = createCallbackReceiver({
    now,
    signingSecret: signingText,
    outbox,
    onPayment: () => {},
    onError: (error) => see('what onError receives', error),
  });
  for (const referenceNumber of ['first', 'second']) {
    const rawBody = JSON.stringify(recordOf(referenceNumber));
    const reply = await receiver.receive({ method: 'POST', ...signed(signingText, { rawBody }) });
    see('the reply', reply);
  }
}

export const outboxWalks: Walks = {
  './outbox memoryStore': {
    'payments that fail in every way, and a second one': async (see) => {
      const outbox = memoryStore({ client: createClient() });
      await use(see, outbox);
      await tellOfSecond(see, outbox);
    },
  },
  './outbox/postgres postgresStore': {
    'payments that fail in every way, and a database without tables': async (see) => {
      const database = await emptyPglite();
      const outbox = postgresStore(database, { client: createClient() });
      see('missing tables', await failureOf(() => outbox.create(order)));
      await outbox.setup();
      await use(see, outbox as PaymentStore);
    },
    'with a pool that gives no connection': async (see) => {
      const pool = { password: apiSecret, connect: () => new Promise<never>(() => undefined) };
      const outbox = postgresStore(pool, { client: createClient(), acquireTimeoutMs: 1 });
      see('the outbox', outbox);
      see('the failure', await failureOf(() => outbox.create(order)));
    },
  },
  './outbox/mysql mysqlStore': {
    'with a server that says what it was sent': async (see) => {
      const connection = {
        ...(await failingPool.getConnection()),
        async query({ sql }: { sql: string }): Promise<never> {
          const failure = { errno: 1064, code: 'ER_PARSE_ERROR', sqlState: '42000' };
          const sqlMessage = `near ${sql} ${said}`;
          throw Object.assign(new Error(sqlMessage), { ...failure, sqlMessage, sql });
        },
      };
      const pool = { password: apiSecret, getConnection: async () => connection };
      const outbox = mysqlStore(pool as never, { client: createClient() });
      see('the outbox', outbox);
      see('the failure of setup', await failureOf(() => outbox.setup()));
      see('the failure of create', await failureOf(() => outbox.create(order)));
      const recording = () => outbox.record(order, { tx: connection as never });
      see('the failure of record', await failureOf(recording));
    },
    'with a pool that gives no connection': async (see) => {
      const pool = {
        password: apiSecret,
        getConnection: () => new Promise<never>(() => undefined),
      };
      const outbox = mysqlStore(pool, { client: createClient(), acquireTimeoutMs: 1 });
      see('the failure', await failureOf(() => outbox.create(order)));
    },
  },
  './outbox/sqlite sqliteStore': {
    'with a database that fails': async (see) => {
      const outbox = sqliteStore(failingDatabase, { client: createClient() });
      see('the outbox', outbox);
      see('the failure of setup', await failureOf(() => outbox.setup()));
      see('the failure of create', await failureOf(() => outbox.create(order)));
    },
  },
};
