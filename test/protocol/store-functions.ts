import { PaymentClient } from '../../src/client/payment-client.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { fieldOfAny } from '../../src/protocol/own-fields.js';
import type { PaymentStatusRecord } from '../../src/protocol/payment.js';
import { createCallbackReceiver } from '../../src/receiver/callback-receiver.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { ManagedStore } from '../../src/store/callback-store.js';
import { memoryStore } from '../../src/store/memory.js';
import type { StoreOptions } from '../../src/store/options.js';
import type { PaymentStore } from '../../src/store/payment-store.js';
import { now, SECRET, sampleRecord, sampleRequest } from '../callback/sample-callback.js';
import { emptyPglite } from '../pglite.js';

interface Opened {
  open(options: { client: NonNullable<StoreOptions['client']> }): PaymentStore<never>;
  /** With no options at all. */
  openBare(): ManagedStore<never>;
  clear(): Promise<unknown>;
}

const order = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
const client = {
  baseUrl: 'https://pay.example',
  apiKey: 'key-1',
  apiSecret: 'secret-1',
  maxRetries: 0,
};

const change = (fields: Record<string, unknown> = {}, key = 'key-1') => ({
  key,
  payment: sampleRecord(fields) as PaymentStatusRecord,
});

/** What a test may compare: no times of this machine. */
const withoutTimes = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (name, field) =>
      /At$|^since$/.test(name) ? typeof field : field,
    ),
  );

const failing = (): Promise<never> => Promise.reject(new Error('broken'));

// What could read what is planted, but is not the package's own.
const prepare = () => ({
  answers: [500, 201, 400].map((status) => new Response('{"code":"NO"}', { status })),
  request: { method: 'POST', ...sampleRequest() },
});

/** Does with a store everything that takes options or fields, and tells what came of it. */
async function use(
  { open, openBare }: Opened,
  { answers, request }: ReturnType<typeof prepare>,
): Promise<unknown> {
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent.push(String(init?.body));
    return answers.shift() as Response;
  };
  const told: unknown[] = [sent];
  const tell = async (running: Promise<unknown>): Promise<void> => {
    told.push(await running.catch((error) => [String(error), String(fieldOfAny(error, 'cause'))]));
  };
  const store = open({ client: new PaymentClient({ ...client, fetch }) });
  const bare = openBare();
  const reference = order.merchantPaymentReference;
  await tell(store.create(order));
  await tell(store.create({ ...order, merchantPaymentReference: 'order-2' }));
  await tell(store.create({ ...order, merchantPaymentReference: 'order-3' }, {}));
  await tell(store.send('order-3', {}));
  await tell(store.record(order, {} as never));
  await tell(store.markCreated(reference, {} as never));
  await tell(store.markNotCreated({} as never));
  const work = async (context: object): Promise<void> => {
    const { current, secondPayment } = context as Record<string, unknown>;
    told.push([current, secondPayment]);
  };
  await tell(store.process(change({ status: 'pending' }), work));
  await tell(store.process(change({ updatedAt: '2026-01-31T12:00:01Z' }, 'old'), work));
  await tell(store.process(change({ referenceNumber: 'second' }, 'key-2'), work));
  await tell(bare.process(change({ merchantPaymentReference: undefined }), work));
  await tell(bare.process({ key: 'key-3', payment: {} } as never, work));
  await tell(bare.process({} as never, work));
  const failed = change({ updatedAt: '2026-01-31T12:00:09Z' }, 'failed');
  await tell(store.process(failed, failing));
  await tell(store.process({ ...failed, failures: {} }, failing));
  await tell(store.recover({}));
  for await (const item of store.attention({})) told.push(item);
  for await (const item of bare.attention()) {
    told.push(item.kind);
    await tell(bare.discard({ kind: item.kind } as never));
  }
  const receiver = createCallbackReceiver<never>({
    signingSecret: SECRET,
    now,
    store: bare,
    onPayment: (_callback, context) => work(context),
    onError: (error) => void told.push(String(error)),
  });
  told.push(await receiver.receive(request));
  told.push(await receiver.replay({ key: 'failed', referenceNumber: 'nobody' }));
  await tell(store.prune(new Date(0)));
  return withoutTimes(told);
}

type Prepare = () => Promise<() => unknown>;

const using =
  (start: () => Promise<Opened>): Prepare =>
  async () => {
    const opened = await start();
    await opened.clear();
    const prepared = prepare();
    return () => use(opened, prepared);
  };

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const TABLES = ['payments', 'second_payments', 'changes', 'failed_changes'].map(
  (name) => `payment_store_${name}`,
);

const startMemory = async (): Promise<Opened> => ({
  open: (options) => memoryStore(options) as PaymentStore<never>,
  openBare: () => memoryStore() as ManagedStore<never>,
  clear: async () => undefined,
});

const startPglite = once(async (): Promise<Opened> => {
  const database = await emptyPglite();
  await postgresStore(database).setup();
  return {
    open: (options) => postgresStore(database, options) as PaymentStore<never>,
    openBare: () => postgresStore(database) as ManagedStore<never>,
    // What is planted may have broken a transaction of PGlite.
    clear: () => database.exec(`ROLLBACK; TRUNCATE ${TABLES.join(', ')}`),
  };
});

type Sqlite = { readonly DatabaseSync: new (file: string) => Parameters<typeof sqliteStore>[0] };

// From Node 22.13 on.
const sqlite = process.getBuiltinModule?.('node:sqlite') as Sqlite | undefined;

const startSqlite = once(async (): Promise<Opened> => {
  const database = new (sqlite as Sqlite).DatabaseSync(':memory:');
  await sqliteStore(database).setup();
  return {
    open: (options) => sqliteStore(database, options) as never,
    openBare: () => sqliteStore(database) as ManagedStore<never>,
    clear: async () => database.exec(TABLES.map((table) => `DELETE FROM ${table}`).join('; ')),
  };
});

/** The stores that need no server, as they are used. */
export const storeFunctions: Readonly<Record<string, Prepare>> = {
  memoryStore: using(startMemory),
  postgresStore: using(startPglite),
  ...(sqlite && { sqliteStore: using(startSqlite) }),
};
