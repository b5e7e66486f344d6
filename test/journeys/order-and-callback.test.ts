import { describe, expect, it } from 'vitest';
import { createScene, RETRY_MS } from './merchant.js';

describe('an order that is stored before its payment is created', () => {
  it('is shipped when it is paid', async () => {
    await using scene = await createScene();
    scene.store('order-1');
    await scene.pay('order-1');
    await scene.service.setStatus(scene.paymentOf('order-1'), 'paid');
    expect(scene.orders.get('order-1')).toEqual({ status: 'paid', shipments: 1 });
    expect(scene.answers()).toEqual([200]);
  });

  it.each(['in-turn', 'at-once'] as const)(
    'is shipped once when its callback is delivered six times, %s',
    async (mode) => {
      await using scene = await createScene();
      scene.store('order-1');
      await scene.pay('order-1');
      scene.service.faults.add({ on: 'callback', type: 'duplicate', copies: 5, mode });
      await scene.service.setStatus(scene.paymentOf('order-1'), 'paid');
      await scene.clock.advance(3 * RETRY_MS);
      expect(scene.orders.get('order-1')).toEqual({ status: 'paid', shipments: 1 });
      expect(scene.answers().filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect(scene.errors).toEqual([]);
    },
  );

  it('is shipped once when a status is reported again later', async () => {
    await using scene = await createScene();
    scene.store('order-1');
    await scene.pay('order-1');
    const payment = scene.paymentOf('order-1');
    for (const status of ['paid', 'disputed', 'paid']) {
      await scene.service.setStatus(payment, status);
      await scene.clock.advance(1_000);
    }
    expect(scene.orders.get('order-1')).toEqual({ status: 'paid', shipments: 1 });
    expect(scene.answers()).toEqual([200, 200, 200]);
  });
});

describe('a callback that overtakes its order', () => {
  it('is answered 503 and processed by the retry, once, and is no error', async () => {
    await using scene = await createScene();
    await scene.pay('order-1'); // its transaction is still open
    const payment = scene.paymentOf('order-1');
    await scene.service.setStatus(payment, 'paid');
    expect(scene.answers()).toEqual([503]);

    scene.store('order-1');
    await scene.clock.advance(RETRY_MS);
    expect(scene.orders.get('order-1')).toEqual({ status: 'paid', shipments: 1 });
    await scene.service.resend(payment);
    expect(scene.orders.get('order-1')).toEqual({ status: 'paid', shipments: 1 });
    expect(scene.answers()).toEqual([503, 200, 200]);
    expect(scene.errors).toEqual([]);
  });

  it('is asked for again until its order is stored', async () => {
    await using scene = await createScene();
    await scene.pay('order-1');
    await scene.service.setStatus(scene.paymentOf('order-1'), 'paid');
    await scene.clock.advance(2 * RETRY_MS);
    expect(scene.answers()).toEqual([503, 503, 503]);
    scene.store('order-1');
    await scene.clock.advance(RETRY_MS);
    expect(scene.orders.get('order-1')).toEqual({ status: 'paid', shipments: 1 });
  });
});

describe('a payment that is reported as paid after a newer change', () => {
  it('is shipped all the same, and keeps the newer status', async () => {
    await using scene = await createScene();
    scene.store('order-1');
    await scene.pay('order-1');
    const payment = scene.paymentOf('order-1');
    // paid is lost on the way, settled is delivered, paid is retried.
    scene.service.faults.add({ on: 'callback', type: 'drop', match: { status: 'paid' } });
    await scene.service.setStatus(payment, 'paid');
    await scene.clock.advance(1_000);
    await scene.service.setStatus(payment, 'settled');
    expect(scene.orders.get('order-1')).toEqual({ status: 'settled', shipments: 0 });
    await scene.clock.advance(RETRY_MS);
    expect(scene.orders.get('order-1')).toEqual({ status: 'settled', shipments: 1 });
    expect(scene.service.faults.pending()).toEqual([]);
  });

  it('is shipped once when the two are reordered and delivered again', async () => {
    await using scene = await createScene();
    scene.store('order-1');
    await scene.pay('order-1');
    const payment = scene.paymentOf('order-1');
    scene.service.faults.add({ on: 'callback', type: 'reorder' });
    await scene.service.setStatus(payment, 'paid');
    await scene.clock.advance(1_000);
    await scene.service.setStatus(payment, 'settled');
    await scene.service.waitForDelivery({ referenceNumber: payment, status: 'paid' });
    for (const { id } of [...scene.service.deliveries]) await scene.service.resend(id);
    expect(scene.orders.get('order-1')).toEqual({ status: 'settled', shipments: 1 });
    expect(scene.answers()).toEqual([200, 200, 200, 200]);
  });
});

describe('a creation whose answer is lost', () => {
  it('leaves one payment, which its callback settles', async () => {
    await using scene = await createScene();
    scene.service.faults.add({ on: 'request', type: 'lost-answer' });
    scene.store('order-1');
    expect(await scene.pay('order-1')).toBe('unknown');
    expect(scene.service.requests).toHaveLength(1);

    await scene.service.setStatus(scene.paymentOf('order-1'), 'paid');
    expect(scene.orders.get('order-1')).toEqual({ status: 'paid', shipments: 1 });
    expect(scene.answers()).toEqual([200]);
  });
});
