import { describe, expect, test } from 'vitest';
import { createMockService, type MockEvent } from '../../src/mock-server/index.js';
import { creation } from './merchant-client.js';
import { startEndpoint } from './merchant-endpoint.js';

describe('a listener', () => {
  test('is called with each event until it is taken away', async () => {
    await using service = createMockService();
    const events: MockEvent['type'][] = [];
    const unsubscribe = service.subscribe(({ type }) => events.push(type));
    await service.fetch(creation());
    expect(events).toEqual(['request', 'payment', 'request']);
    unsubscribe();
    await service.fetch(creation());
    expect(events).toHaveLength(3);
  });

  test('hears of what another one makes happen after what made it happen', async () => {
    await using service = createMockService();
    service.subscribe((event) => {
      if (event.type !== 'payment' || event.payment.status !== 'pending') return;
      void service.setStatus(event.payment.referenceNumber, 'paid');
    });
    const statuses: string[] = [];
    service.subscribe((event) => {
      if (event.type === 'payment') statuses.push(event.payment.status);
    });
    await service.fetch(creation());
    expect(statuses).toEqual(['pending', 'paid']);
  });

  test('hears nothing of what was forgotten, after a reset', async () => {
    await using endpoint = await startEndpoint(() => undefined);
    await using service = createMockService({ callbackUrl: endpoint.url });
    await service.fetch(creation());
    const [payment] = service.payments.list();
    service.faults.add({ on: 'request', type: 'hang' });
    const hanging = service.fetch(creation());
    const change = service.setStatus(payment?.referenceNumber ?? '', 'paid');
    await endpoint.waitFor(1);
    const events: string[] = [];
    service.subscribe((event) => {
      events.push(event.type === 'delivery' ? event.delivery.state : event.type);
    });
    service.reset();
    await expect(hanging).rejects.toThrow();
    expect((await change).state).toBe('cancelled');
    expect(events).toEqual(['cancelled', 'faults', 'reset']);
  });

  test('may reset the service: the announced callback is not sent', async () => {
    await using endpoint = await startEndpoint();
    await using service = createMockService({ callbackUrl: endpoint.url });
    await service.fetch(creation());
    const [payment] = service.payments.list();
    service.subscribe((event) => {
      if (event.type === 'delivery' && event.delivery.state === 'sending') service.reset();
    });
    const delivery = await service.setStatus(payment?.referenceNumber ?? '', 'paid');
    expect(delivery.state).toBe('cancelled');
    expect(endpoint.received).toEqual([]);
  });

  test('that throws is heard of, and changes nothing for the service and the others', async () => {
    await using service = createMockService();
    const mistakes: unknown[] = [];
    const catchMistake = (error: unknown) => mistakes.push(error);
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', catchMistake);
    let calls = 0;
    const stop = service.subscribe(() => {
      stop();
      throw new Error('in a listener');
    });
    service.subscribe(() => {
      calls += 1;
    });
    const answer = await service.fetch(creation());
    await new Promise((resolve) => setImmediate(resolve));
    process.removeListener('uncaughtException', catchMistake);
    for (const listener of others) process.on('uncaughtException', listener);
    expect(answer.status).toBe(201);
    expect(calls).toBe(3);
    expect(mistakes).toMatchObject([{ message: 'in a listener' }]);
  });
});
