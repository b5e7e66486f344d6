import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors.js';
import { createCallbackReceiver } from '../../src/receiver/callback-receiver.js';
import type { PaymentContext } from '../../src/receiver/options.js';
import { memoryOutbox } from '../../src/store/memory-outbox.js';
import { collect } from '../contract/outbox/stage.js';
import { order, startScene } from './settling-scene.js';

const createOutbox = (client: Parameters<typeof memoryOutbox>[0]['client']) =>
  memoryOutbox({ client });

describe('a receiver with an outbox', () => {
  it('settles by the callback a payment whose answer was lost', async () => {
    const contexts: PaymentContext<undefined>[] = [];
    await using scene = await startScene({
      createOutbox,
      onPayment: (_, context) => void contexts.push(context),
    });
    const { mock, outbox } = scene;
    mock.faults.add({ on: 'request', type: 'lost-answer' });
    const payment = await outbox.create(order('order-1'));
    expect(payment).toMatchObject({ state: 'unresolved', replayed: false });
    expect(payment.error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(await collect(outbox.unresolved())).toHaveLength(1);

    const [existing] = mock.payments.list();
    const referenceNumber = String(existing?.referenceNumber);
    const delivery = await mock.setStatus(referenceNumber, 'paid');
    expect(delivery.state).toBe('acknowledged');
    expect(await outbox.create(order('order-1'))).toMatchObject({
      state: 'created',
      replayed: true,
      payment: { referenceNumber, status: 'paid' },
    });
    expect(await collect(outbox.unresolved())).toEqual([]);
    expect(mock.requests).toHaveLength(1);
    expect(contexts).toMatchObject([{ stale: false, secondPayment: false }]);
  });

  it('returns from create the record of a callback that arrived before the answer', async () => {
    await using scene = await startScene({ createOutbox, onPayment: () => {} });
    const { mock, outbox } = scene;
    mock.faults.add({ on: 'request', type: 'hang' });
    const controller = new AbortController();
    const call = outbox.create(order('order-2'), { signal: controller.signal });
    // The payment comes from elsewhere, as the mock that hangs has created none.
    await expect.poll(() => mock.requests.length).toBe(1);
    const direct = await scene.client.payments.create(order('order-2'));
    const referenceNumber = String(direct.payment.referenceNumber);
    await mock.setStatus(referenceNumber, 'paid');
    controller.abort();
    expect(await call).toMatchObject({
      state: 'created',
      replayed: false,
      payment: { referenceNumber, status: 'paid' },
    });
  });

  it('keeps the newest record when callbacks arrive late', async () => {
    await using scene = await startScene({ createOutbox, onPayment: () => {} });
    const { mock, outbox } = scene;
    const { payment } = await outbox.create(order('order-3'));
    const referenceNumber = String(payment?.referenceNumber);
    mock.faults.add({ on: 'callback', type: 'reorder' });
    const held = mock.setStatus(referenceNumber, 'authorized');
    await mock.setStatus(referenceNumber, 'paid');
    await held;
    expect((await outbox.get('order-3'))?.payment?.status).toBe('paid');
  });

  it('reports a second payment of one reference, once for each change', async () => {
    const reports: unknown[] = [];
    const contexts: PaymentContext<undefined>[] = [];
    await using scene = await startScene({
      createOutbox,
      onPayment: (_, context) => void contexts.push(context),
      onError: (error, callback) => void reports.push({ error, key: callback?.key }),
    });
    const { mock, outbox, client } = scene;
    await outbox.create(order('order-4'));
    const { payment } = await client.payments.create(order('order-4'));
    const referenceNumber = String(payment.referenceNumber);
    mock.faults.add({ on: 'callback', type: 'duplicate', copies: 1, mode: 'in-turn' });
    await mock.setStatus(referenceNumber, 'paid');
    expect(reports).toEqual([
      { error: expect.any(StoreError), key: expect.stringContaining('paid') },
    ]);
    expect(reports).toMatchObject([{ error: { code: 'SECOND_PAYMENT' } }]);
    expect(contexts).toMatchObject([{ secondPayment: true }]);
    expect(await collect(outbox.secondPayments())).toMatchObject([
      { merchantPaymentReference: 'order-4', referenceNumber, payment: { status: 'paid' } },
    ]);
  });

  it('calls onSecondPayment instead of onError, and retries when it fails', async () => {
    const calls: string[] = [];
    const reports: unknown[] = [];
    await using scene = await startScene({
      createOutbox,
      onPayment: () => void calls.push('onPayment'),
      onSecondPayment({ payment }, { secondPayment }) {
        calls.push(`${payment.merchantPaymentReference} ${secondPayment}`);
        if (calls.length === 1) throw new Error('the refund was not noted');
      },
      onError: (error) => void reports.push(error),
    });
    const { mock, outbox, client } = scene;
    await outbox.create(order('order-5'));
    const { payment } = await client.payments.create(order('order-5'));
    const referenceNumber = String(payment.referenceNumber);
    expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(500);
    expect(calls).toEqual(['order-5 true']);
    expect(reports).toMatchObject([{ message: 'the refund was not noted' }]);
    expect((await mock.setStatus(referenceNumber, 'paid')).attempts[0]?.response?.status).toBe(200);
    expect(calls).toEqual(['order-5 true', 'order-5 true', 'onPayment']);
  });

  it('answers 500 and calls nothing when the outbox fails', async () => {
    const reports: unknown[] = [];
    let calls = 0;
    await using scene = await startScene({
      createOutbox(client) {
        const outbox = memoryOutbox({ client });
        outbox.settle = async () => {
          throw new Error('no database');
        };
        return outbox;
      },
      onPayment() {
        calls += 1;
      },
      onError: (error) => void reports.push(error),
    });
    const { payment } = await scene.client.payments.create(order('order-6'));
    const delivery = await scene.mock.setStatus(String(payment.referenceNumber), 'paid');
    expect(delivery.attempts[0]?.response?.status).toBe(500);
    expect(reports).toMatchObject([{ message: 'no database' }]);
    expect(calls).toBe(0);
  });

  it('passes on callbacks for payments that are not in the outbox', async () => {
    let calls = 0;
    await using scene = await startScene({
      createOutbox,
      onPayment() {
        calls += 1;
      },
    });
    const { payment } = await scene.client.payments.create(order('order-7'));
    await scene.mock.setStatus(String(payment.referenceNumber), 'paid');
    expect(calls).toBe(1);
    expect(await scene.outbox.get('order-7')).toBeUndefined();
  });

  it.each([
    ['outbox', { outbox: {} }, 'outbox must be an outbox: memoryOutbox({ client })'],
    ['onSecondPayment', { onSecondPayment() {} }, 'onSecondPayment requires outbox'],
  ])('refuses a wrong %s', (option, more, message) => {
    const options = { signingSecret: 'a secret', onPayment() {}, ...more };
    expect(() => createCallbackReceiver(options as never)).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
  });
});
