import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ManagedStore, StoreContext } from '../../../src/store/callback-store.js';
import type { PaymentStore } from '../../../src/store/payment-store.js';
import type { TransactionProvider } from '../../../src/store/providers/provider.js';
import { databaseForms } from '../../../src/store/sql/sql.js';
import { change, collect, heldWork, nothing, order } from '../../postgres/change.js';
import type { OrmTransaction } from '../../postgres/orms/orms.js';
import type { OpenProvider, ProviderOptions } from '../../postgres/providers/providers.js';
import { outcomeOf } from '../outcome-of.js';

type SqlStore = ManagedStore<unknown>;

/** What the tests of a provider need of its engine. Its statements have `?` for a value. */
export interface ProviderEngine {
  open(options?: ProviderOptions): Promise<OpenProvider>;
  makeStore(
    provider: TransactionProvider<unknown>,
    options?: { transactionTimeoutMs?: number; acquireTimeoutMs?: number },
  ): SqlStore;
  /** A store with a client that sends nothing. */
  makePayments(provider: TransactionProvider<unknown>): PaymentStore<unknown>;
  query(sql: string, values: string[]): Promise<Record<string, unknown>[]>;
  /** Ends the one connection that is in a transaction, as an administrator does. */
  loseConnection(): Promise<unknown>;
  /** A statement that ends its connection. */
  readonly endsConnection: string;
  /** Statements that end a transaction. */
  readonly endings: readonly string[];
}

/** A provider of the engine with its store, closed after the tests. */
export function useProvider(engine: ProviderEngine) {
  const closing: (() => Promise<unknown>)[] = [];
  let opened: OpenProvider;
  let store: SqlStore;
  beforeAll(async () => {
    opened = await engine.open();
    store = engine.makeStore(opened.provider);
    await store.setup();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  afterAll(() => opened.close());

  return {
    engine,
    opened: () => opened,
    store: () => store,
    payments: () => engine.makePayments(opened.provider),
    async openOther(options?: ProviderOptions): Promise<OpenProvider> {
      const other = await engine.open(options);
      closing.push(() => other.close());
      return other;
    },
    async written(reference: string): Promise<unknown[]> {
      const sql = 'SELECT status FROM orders WHERE reference = ? ORDER BY 1';
      return (await engine.query(sql, [reference])).map(({ status }) => status);
    },
    async isRecorded(reference: string): Promise<boolean> {
      const sql = 'SELECT 1 FROM payment_store_changes WHERE merchant_payment_reference = ?';
      return (await engine.query(sql, [databaseForms.toName(reference)])).length === 1;
    },
    deliver: (reference: string, work: Work) =>
      outcomeOf(store, change(reference), async (context: StoreContext<unknown>) => {
        await work(opened.on(context.tx), context);
      }),
  };
}

type Work = (db: OrmTransaction, context: StoreContext<unknown>) => Promise<unknown>;

/** What holds of a store on any provider. Every case has its own payment. */
export function describeProvider(scene: ReturnType<typeof useProvider>): void {
  const { engine, opened, store, payments, openOther, written, isRecorded, deliver } = scene;

  it('writes with the record, once', async () => {
    const work: Work = (db) => db.insert('once', 'paid');
    expect(await deliver('once', work)).toBe('processed');
    expect(await deliver('once', work)).toBe('duplicate');
    expect(await written('once')).toEqual(['paid']);
  });

  it('rolls back its write and ours when the work throws', async () => {
    const outOfStock = new Error('out of stock');
    const work: Work = async (db) => {
      await db.insert('thrown', 'paid');
      throw outOfStock;
    };
    await expect(deliver('thrown', work)).rejects.toBe(outOfStock);
    expect(await written('thrown')).toEqual([]);
    expect(await deliver('thrown', (db) => db.insert('thrown', 'again'))).toBe('processed');
    expect(await written('thrown')).toEqual(['again']);
  });

  it.each([
    ['throws', async () => Promise.reject(new Error('out of stock'))],
    ['meets an error of the database', (db: OrmTransaction) => db.fail()],
  ])('undoes its write when it %s and is parked', async (name, fail) => {
    const reference = `parked-${name}-${randomUUID()}`;
    const failures = { parkAfter: 1 };
    const event = change(reference, 0, { failures });
    const failing = outcomeOf(store(), event, async ({ tx }) => {
      await opened().on(tx).insert(reference, 'paid');
      await fail(opened().on(tx));
    });
    await expect(failing).rejects.toThrow();
    expect(await written(reference)).toEqual([]);
    expect(await isRecorded(reference)).toBe(false);
    const { referenceNumber } = event.payment;
    const listed = await collect(store().attention({ referenceNumber }));
    expect(listed).toMatchObject([{ attempts: 1, parked: true }]);
  });

  it('takes references of any characters', async () => {
    const reference = `a?b\\?'c":d $1 %s \\`;
    expect(await outcomeOf(store(), change(reference), nothing)).toBe('processed');
    expect(await outcomeOf(store(), change(reference), nothing)).toBe('duplicate');
    const plain = "?'?:x??";
    expect(await outcomeOf(store(), change(plain), nothing)).toBe('processed');
    expect(await isRecorded(plain)).toBe(true);
    expect(await store().prune(new Date(0))).toBe(0);
  });

  it('keeps the rest when a nested transaction fails', async () => {
    const outcome = await deliver('nested', async (db) => {
      await db.insert('nested', 'before');
      const failing = db.nested(async (inner) => {
        await inner.insert('nested', 'undone');
        await inner.fail();
      });
      await expect(failing).rejects.toThrow();
      await db.nested(async (inner) => {
        await inner.insert('nested', 'inner');
      });
      await db.insert('nested', 'then');
    });
    expect(outcome).toBe('processed');
    expect(await written('nested')).toEqual(['before', 'inner', 'then']);
    expect(await isRecorded('nested')).toBe(true);
  });

  it.each(engine.endings)('never processes work that sends %s', async (end) => {
    const reference = `ended-by-${end.slice(0, 6)}`;
    const running = deliver(reference, (_db, { tx }) => opened().send(tx, end));
    await expect(running).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('ended the transaction'),
    });
    expect(await isRecorded(reference)).toBe(false);
  });

  it('fails when the connection is lost, at once where the ORM shows it, and works again', async () => {
    const showsLosses = ['Drizzle', 'knex', 'TypeORM', 'postgres.js'].includes(
      opened().provider.orm,
    );
    const held = heldWork<unknown>();
    const running = outcomeOf(store(), change('lost'), held.work);
    const lost = expect(running).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    const { signal } = await held.started;
    await engine.loseConnection();
    if (!showsLosses) held.finish();
    await lost;
    if (showsLosses) expect(signal.reason).toMatchObject({ code: 'TRANSACTION_LOST' });
    held.finish();
    expect(await outcomeOf(store(), change('lost'), nothing)).toBe('processed');
  });

  it('fails when the connection is lost under a statement of the work', async () => {
    const running = deliver('cut', (_db, { tx }) => opened().send(tx, engine.endsConnection));
    await expect(running).rejects.toThrow();
    expect(await isRecorded('cut')).toBe(false);
    expect(await outcomeOf(store(), change('cut'), nothing)).toBe('processed');
  });

  it('fails in time when the work hangs, aborts the signal, and is undone when it ends', async () => {
    const impatient = engine.makeStore(opened().provider, { transactionTimeoutMs: 400 });
    const held = heldWork<unknown>();
    const running = outcomeOf(impatient, change('hanging'), held.work);
    const { signal } = await held.started;
    await expect(running).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: expect.stringContaining('transactionTimeoutMs'),
    });
    expect(signal.reason).toMatchObject({ code: 'STORE_TIMEOUT' });
    held.finish();
    expect(await outcomeOf(store(), change('hanging'), nothing)).toBe('processed');
  });

  it('waits for what runs on when a Promise.all has failed in part, on a pool of one', async () => {
    const other = await openOther({ max: 1 });
    const one = engine.makeStore(other.provider);
    const failing = outcomeOf(one, change('in-part'), async ({ tx }) => {
      const db = other.on(tx);
      await Promise.all([db.fail(), db.insert('in-part', 'one'), db.insert('in-part', 'two')]);
    });
    await expect(failing).rejects.toThrow();
    expect(await written('in-part')).toEqual([]);
    expect(await outcomeOf(one, change('in-part'), nothing)).toBe('processed');
  });

  it('has failed when the work returns before two queries, of which one fails', async () => {
    const forgetful = deliver('forgotten', async (db) => {
      db.fail().catch(() => undefined);
      db.insert('forgotten', 'one').catch(() => undefined);
    });
    await expect(forgetful).rejects.toThrow();
    expect(await written('forgotten')).toEqual([]);
    expect(await isRecorded('forgotten')).toBe(false);
  });

  it.each([
    ['its own limit', 400],
    ['that of the ORM, if it takes one', 100],
  ])('gives up waiting for a connection by %s, and then does nothing with it', async (_, ms) => {
    const other = await openOther({ max: 1 });
    // Opened before the time is taken.
    await other.provider.query(other.provider.database, 'SELECT 1');
    const transaction: TransactionProvider<unknown>['transaction'] = (body, limits) =>
      other.provider.transaction(body, { ...limits, acquireTimeoutMs: ms });
    const provider = Object.create(other.provider, { transaction: { value: transaction } });
    const one = engine.makeStore(provider, { acquireTimeoutMs: 400 });
    const held = heldWork<unknown>();
    const first = outcomeOf(one, change(`holds-${ms}`), held.work).catch((error: unknown) => error);
    await held.started;
    let runs = 0;
    const late = outcomeOf(one, change(`waits-${ms}`), async () => {
      runs += 1;
    });
    await expect(late).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    held.finish();
    expect(await first).toBe('processed');
    expect(await outcomeOf(one, change(`after-${ms}`), nothing)).toBe('processed');
    expect(runs).toBe(0);
    expect(await isRecorded(`waits-${ms}`)).toBe(false);
  });

  it('records a payment in the transaction of the work, or not at all', async () => {
    const failing = outcomeOf(store(), change('first'), async ({ tx }) => {
      await payments().record(order('ours'), { tx });
      throw new Error('out of stock');
    });
    await expect(failing).rejects.toThrow('out of stock');
    expect(await payments().get('ours')).toBeUndefined();
    await outcomeOf(store(), change('first'), ({ tx }) => payments().record(order('ours'), { tx }));
    expect(await payments().get('ours')).toMatchObject({ state: 'recorded' });
  });

  it('records no payment through the database itself', async () => {
    const recording = payments().record(order('none'), { tx: opened().provider.database });
    await expect(recording).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'tx' });
    expect(await payments().get('none')).toBeUndefined();
  });

  it('records no payment through a transaction that has ended', async () => {
    let ended: unknown;
    const limits = { acquireTimeoutMs: 30_000, transactionTimeoutMs: 30_000 };
    await opened().provider.transaction(async (tx) => {
      ended = tx;
    }, limits);
    await expect(payments().record(order('late'), { tx: ended })).rejects.toThrow();
    expect(await payments().get('late')).toBeUndefined();
  });
}
