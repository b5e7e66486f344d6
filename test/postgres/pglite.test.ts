import type { PGlite } from '@electric-sql/pglite';
import { assert, beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/postgres/pool.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { ContractService } from '../contract/store/service.js';
import { emptyPglite } from '../pglite.js';
import { outcomeOf } from '../store/outcome-of.js';
import { change, collect, heldWork, nothing, order } from './change.js';
import { describeStore } from './store-cases.js';

let database: PGlite;

beforeAll(async () => {
  database = await emptyPglite();
  await database.exec("SET lock_timeout = '1234ms'");
  await database.exec(
    'CREATE TABLE orders (reference text, status text, UNIQUE (reference, status) DEFERRABLE INITIALLY DEFERRED)',
  );
  await postgresStore(database).setup();
});

describe('postgresStore on PGlite', () => {
  describeStore(() => ({ pool: database, query: (text, values) => database.query(text, values) }));

  it('says when the work ended the transaction by its rollback()', async () => {
    const failing = outcomeOf(postgresStore(database), change('rollback()'), ({ tx }) =>
      tx.rollback(),
    );
    await expect(failing).rejects.toMatchObject({
      code: 'TRANSACTION_LOST',
      message: expect.stringContaining('ended the transaction'),
    });
  });

  it('hands on a signal that is not aborted', async () => {
    await outcomeOf(postgresStore(database), change('signal'), async ({ signal }) => {
      expect(signal.aborted).toBe(false);
    });
  });

  it('is busy for a change whose payment is being processed for too long', async () => {
    const store = postgresStore(database, { lockTimeoutMs: 5 });
    const held = heldWork();
    const first = outcomeOf(store, change('busy', 1), held.work);
    await held.started;
    expect(await outcomeOf(store, change('busy', 1), nothing)).toBe('busy');
    held.finish();
    expect(await first).toBe('processed');
    expect(await outcomeOf(store, change('busy', 1), nothing)).toBe('duplicate');
  });
});

describe('a store of payments on PGlite', () => {
  /** Ends the time in which the service may act on a request. */
  const endLifetimes = () =>
    database.query(
      'UPDATE payment_store_payments SET lease_until_ms = 0, sent_at_ms = sent_at_ms - 900000',
    );

  function open() {
    const service = new ContractService();
    const store = postgresStore<Queryable>(database, { client: service.client });
    const list = async (reference: string) => {
      const items = await collect(store.attention({ olderThanMs: 0 }));
      return items.filter((item) => item.merchantPaymentReference === reference);
    };
    return { service, store, list };
  }

  it('creates a payment once, and its callback ends the wait', async () => {
    const { service, store, list } = open();
    const created = { state: 'created', attempts: 1 };
    expect(await store.create(order('shop-1'))).toMatchObject({ ...created, replayed: false });
    expect(await store.create(order('shop-1'))).toMatchObject({ ...created, replayed: true });
    expect(service.requestsFor('shop-1')).toHaveLength(1);
    const [waiting] = await list('shop-1');
    assert(waiting?.kind === 'no-callback');
    const [referenceNumber = ''] = service.paymentsOf('shop-1');
    const paid = change('shop-1', 1, { status: 'paid', referenceNumber });
    await outcomeOf(store, paid, async ({ current, secondPayment }) => {
      expect({ current, secondPayment }).toEqual({ current: true, secondPayment: false });
    });
    expect(await list('shop-1')).toEqual([]);
    expect(await store.get('shop-1')).toMatchObject({ payment: { status: 'paid' } });
  });

  it('sends again what was not created, and creates what a person has found', async () => {
    const { service, store, list } = open();
    service.answer('shop-2', 'answer-lost');
    expect(await store.create(order('shop-2'))).toMatchObject({ state: 'unresolved' });
    expect(await list('shop-2')).toEqual([]);
    await endLifetimes();
    const [item] = await list('shop-2');
    assert(item?.kind === 'unresolved');
    await store.markNotCreated(item);
    service.answer('shop-2', 'answer-lost');
    expect(await store.create(order('shop-2'))).toMatchObject({ state: 'unresolved' });
    await endLifetimes();
    await expect(store.markNotCreated(item)).rejects.toMatchObject({ code: 'STATE_CHANGED' });
    await store.recover({ lookUp: () => ({ referenceNumber: 'found' }) });
    expect(await store.get('shop-2')).toMatchObject({ payment: { referenceNumber: 'found' } });
    const nobody = store.markCreated('nobody', { referenceNumber: 'found' });
    await expect(nobody).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  });

  it('tries a declined order again, and tells of a second payment of it', async () => {
    const { service, store } = open();
    const shop = postgresStore<Queryable>(database, {
      client: service.client,
      declined: ['declined'],
    });
    const tell = async (reference: string, minute: number, status: string) => {
      const [referenceNumber = ''] = service.paymentsOf(reference);
      const told: unknown[] = [];
      const event = change(reference, minute, { status, referenceNumber });
      await outcomeOf(store, event, async ({ order: first, current, secondPayment }) => {
        told.push(first, current, secondPayment);
      });
      return told;
    };
    await shop.create(order('tried'));
    expect(await tell('tried', 1, 'declined')).toEqual(['tried', true, false]);
    const again = await shop.create(order('tried'));
    expect(again).toMatchObject({ merchantPaymentReference: 'tried-2', order: 'tried' });
    expect(await tell('tried-2', 2, 'paid')).toEqual(['tried', true, false]);
    expect(await tell('tried', 3, 'paid')).toEqual(['tried', false, true]);
    expect(await shop.getOrder('tried')).toMatchObject({ merchantPaymentReference: 'tried-2' });
    await expect(store.create(order('other'), { replaces: 'tried-2' })).rejects.toMatchObject({
      code: 'NOT_REPLACEABLE',
    });
    expect(await store.prune(new Date(0))).toBe(0);
  });

  it('sends what was recorded in the transaction of the order', async () => {
    const { store } = open();
    const record = (tx: unknown) => store.record(order('shop-3'), { tx: tx as Queryable });
    for (const [tx, received] of [
      [database, 'received a PGlite'],
      [undefined, 'tx is missing'],
    ] as const) {
      await expect(record(tx)).rejects.toMatchObject({
        option: 'tx',
        message: expect.stringContaining(received),
      });
    }
    const undone = database.transaction(async (tx) => {
      await record(tx);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await store.get('shop-3')).toBeUndefined();
    await database.transaction((tx) => record(tx));
    expect(await store.get('shop-3')).toMatchObject({ state: 'recorded' });
    expect(await store.send('shop-3')).toMatchObject({ state: 'created' });
  });

  it('sends after a request that was rejected or not sent, and lists the payment until a person discards it', async () => {
    const { service, store, list } = open();
    for (const answer of ['refused', 422] as const) {
      service.answer('shop-4', answer);
      expect(await store.create(order('shop-4'))).toMatchObject({ error: expect.any(Error) });
    }
    expect(await store.create(order('shop-4'))).toMatchObject({ state: 'created' });
    const [waiting] = await list('shop-4');
    assert(waiting?.kind === 'no-callback');
    await store.discard(waiting);
    expect(await list('shop-4')).toEqual([]);
  });

  it('lists a second payment and a failed change until a person discards them', async () => {
    const { service, store, list } = open();
    await store.create(order('shop-5'));
    const [referenceNumber = ''] = service.paymentsOf('shop-5');
    const second = { status: 'paid', referenceNumber: 'another' };
    await outcomeOf(store, change('shop-5', 1, second), nothing);
    await outcomeOf(store, change('shop-5', 2, second), nothing);
    const failing = () =>
      outcomeOf(store, change('shop-5', 3, { referenceNumber }), () =>
        Promise.reject(new Error('broken')),
      );
    await expect(failing()).rejects.toThrow('broken');
    await expect(failing()).rejects.toThrow('broken');
    const items = await list('shop-5');
    expect(items.map(({ kind }) => kind)).toEqual(['second-payment', 'failed-change']);
    for (const item of items) await store.discard(item);
    expect(await list('shop-5')).toEqual([]);
  });
});
