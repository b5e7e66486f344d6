import { describe, expect, it } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import { StoreError } from '../../src/errors.js';
import type { StoreContext } from '../../src/store/callback-store.js';
import { memoryStore } from '../../src/store/memory.js';
import { collect } from '../contract/store/stage.js';
import { order } from './orders.js';
import { startScene } from './settling-scene.js';

const LEASE_MS = 60_000;

const createStore = (client: PaymentClient) => memoryStore({ client });

describe('a receiver with a store that creates payments', () => {
  it('settles by the callback a payment whose answer was lost', async () => {
    const contexts: StoreContext<undefined>[] = [];
    let nowMs = 0;
    await using scene = await startScene({
      createStore: (client) =>
        memoryStore({
          client,
          leaseMs: LEASE_MS,
          requestLifetimeMs: LEASE_MS,
          now: () => nowMs,
        }),
      onPayment: (_, context) => void contexts.push(context),
    });
    const { mock, store } = scene;
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    const payment = await store.create(order('order-1'));
    expect(payment).toMatchObject({ state: 'unresolved', replayed: false });
    expect(payment.error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(await collect(store.attention())).toEqual([]);
    nowMs = LEASE_MS;
    expect(await collect(store.attention())).toHaveLength(1);

    const [existing] = mock.payments.list();
    const referenceNumber = String(existing?.referenceNumber);
    const delivery = await mock.setStatus(referenceNumber, 'paid');
    expect(delivery.state).toBe('acknowledged');
    expect(await store.create(order('order-1'))).toMatchObject({
      state: 'created',
      replayed: true,
      payment: { referenceNumber, status: 'paid' },
    });
    expect(await collect(store.attention())).toEqual([]);
    expect(mock.requests).toHaveLength(1);
    expect(contexts).toMatchObject([{ current: true, secondPayment: false }]);
  });

  it('reports a second payment of one reference, once for each change', async () => {
    const reports: unknown[] = [];
    const contexts: StoreContext<undefined>[] = [];
    await using scene = await startScene({
      createStore,
      onPayment: (_, context) => void contexts.push(context),
      onError: (error, callback) => void reports.push({ error, key: callback?.key }),
    });
    const { mock, store, client } = scene;
    await store.create(order('order-4'));
    const { payment } = await client.payments.create(order('order-4'));
    const referenceNumber = String(payment.referenceNumber);
    mock.faults.add({ on: 'callback', type: 'duplicate', copies: 1, mode: 'in-turn' });
    await mock.setStatus(referenceNumber, 'paid');
    expect(reports).toEqual([
      { error: expect.any(StoreError), key: expect.stringContaining('paid') },
    ]);
    expect(reports).toMatchObject([{ error: { code: 'SECOND_PAYMENT' } }]);
    expect(contexts).toMatchObject([{ secondPayment: true, current: true }]);
    expect(await collect(store.attention())).toMatchObject([
      { merchantPaymentReference: 'order-4', referenceNumber, payment: { status: 'paid' } },
    ]);
  });

  it('settles the payment of a callback that onPayment fails, and retries it', async () => {
    let calls = 0;
    await using scene = await startScene({
      createStore,
      onPayment() {
        calls += 1;
        if (calls === 1) throw new Error('out of stock');
      },
      onError: () => {},
    });
    const { mock, store } = scene;
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    expect(await store.create(order('order-5'))).toMatchObject({ state: 'unresolved' });
    const referenceNumber = String(mock.payments.list()[0]?.referenceNumber);
    expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(500);
    expect(await store.get('order-5')).toMatchObject({
      state: 'created',
      payment: { status: 'paid' },
    });
    expect(await collect(store.attention())).toMatchObject([{ kind: 'failed-change' }]);
    expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(200);
    expect(calls).toBe(2);
  });
});
