import { assert, describe, expect, it } from 'vitest';
import { RetryLaterError } from '../../src/errors.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { memoryStore } from '../../src/store/memory.js';
import { schemaOf } from '../callback/contract/record-schema.js';
import { sampleRecord } from '../callback/sample-callback.js';
import { ContractService } from '../contract/store/service.js';
import { createScene, post } from './scene.js';

const ORDER = 'order-1001';
const FIRST = 'the first payment';
const SECOND = 'the second payment';

type Options = Partial<CallbackReceiverOptions>;

/** A receiver whose store has sent the payment of an order, without an answer. */
async function startSettling(options: Options = {}) {
  const service = new ContractService();
  const store = memoryStore({ client: service.client });
  service.answer(ORDER, 'answer-lost');
  const created = await store.create({
    merchantPaymentReference: ORDER,
    amount: 2500,
    currency: 'EUR',
  });
  assert(created.state === 'unresolved');
  const scene = createScene({ ...options, store });
  const deliver = (fields: Record<string, unknown> = {}) =>
    scene.receive(post({ referenceNumber: FIRST, ...fields }));
  return { scene, store, deliver };
}

describe('a store that creates payments', () => {
  it.each<[string, number, Options]>([
    ['is done', 200, {}],
    ['fails', 500, { onPayment: () => Promise.reject(new Error('broken')) }],
    ['asks to be retried', 503, { onPayment: () => Promise.reject(new RetryLaterError()) }],
    [
      'fails and is parked',
      200,
      { parkAfter: 1, onPayment: () => Promise.reject(new Error('broken')) },
    ],
  ])('settles the payment of a callback whose work %s', async (_, status, options) => {
    const { store, deliver } = await startSettling(options);
    expect(await deliver()).toMatchObject({ status });
    expect(await store.get(ORDER)).toMatchObject({
      state: 'created',
      payment: { referenceNumber: FIRST, status: 'paid' },
    });
  });

  it('settles the record as it was received, whatever its schema writes to it', async () => {
    const other = { merchantPaymentReference: 'of another shop', referenceNumber: 'another' };
    const recordSchema = schemaOf((value) => ({ value: Object.assign(value as object, other) }));
    const { store, deliver } = await startSettling({ recordSchema });
    await deliver();
    const payment = sampleRecord({ referenceNumber: FIRST });
    expect(await store.get(ORDER)).toMatchObject({ payment });
  });
});

describe('a second payment', () => {
  it('is reported with what to do, before onPayment, and listed', async () => {
    const seen: unknown[] = [];
    const { scene, store, deliver } = await startSettling({
      onError: (error, callback) => void seen.push(error, callback?.payment.referenceNumber),
      onPayment: ({ payment }) => void seen.push(payment.status),
    });
    await deliver();
    expect(await deliver({ referenceNumber: SECOND, status: 'settled' })).toMatchObject({
      outcome: 'processed',
    });
    expect(seen).toEqual([
      'paid',
      expect.objectContaining({
        code: 'SECOND_PAYMENT',
        message: expect.stringContaining('refund one if both are paid'),
      }),
      SECOND,
      'settled',
    ]);
    expect(JSON.stringify(seen[1])).not.toContain(ORDER);
    expect(scene.handled).toHaveLength(2);
    for await (const item of store.attention()) {
      expect(item).toMatchObject({ kind: 'second-payment', referenceNumber: SECOND });
    }
  });

  it('is reported once for each change, and again when its work is retried', async () => {
    let isBroken = true;
    const { scene, deliver } = await startSettling({
      onPayment({ payment }) {
        if (isBroken && payment.referenceNumber === SECOND) throw new Error('broken');
      },
    });
    await deliver();
    const second = { referenceNumber: SECOND };
    expect(await deliver(second)).toMatchObject({ outcome: 'failed' });
    isBroken = false;
    expect(await deliver(second)).toMatchObject({ outcome: 'processed' });
    expect(await deliver(second)).toMatchObject({ outcome: 'duplicate' });
    expect(scene.reports.map(({ error }) => error)).toMatchObject([
      { code: 'SECOND_PAYMENT' },
      { message: 'broken' },
      { code: 'SECOND_PAYMENT' },
    ]);
  });
});
