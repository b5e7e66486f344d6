import { expect, test } from 'vitest';
import {
  createManualClock,
  createMockService,
  type MockService,
  type RecordedRequest,
} from '../../../src/mock-server/index.js';
import { basic, order } from '../merchant-client.js';

async function create(service: MockService, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const body = JSON.stringify({ ...order, merchantPaymentReference: `"ö" ${index}` });
    const authorization = basic('key', index % 3 === 0 ? '' : 'secret');
    const headers = { authorization, 'content-type': 'application/json', 'x-number': `${index}` };
    await service.fetch(
      new Request('http://mock.test/api/payments?a=1', { method: 'POST', headers, body }),
    );
  }
}

test('requests are listed as they were when they ended', async () => {
  const service = createMockService({ clock: createManualClock() });
  const ended: RecordedRequest[] = [];
  service.subscribe((event) => {
    if (event.type === 'request' && event.request.ended) ended.push(event.request);
  });
  await service.fetch(new Request('http://mock.test/', { method: 'POST', body: 'no JSON' }));
  service.faults.add({ on: 'request', type: 'server-error', status: 503 });
  service.faults.add({ on: 'request', type: 'reset-before-headers' });
  await create(service, 1);
  await expect(create(service, 1)).rejects.toThrow('reset');
  await create(service, 3);
  expect(service.requests).toStrictEqual(ended);
});

test('a request under way is listed with what becomes of it', async () => {
  const clock = createManualClock();
  const service = createMockService({ clock });
  await create(service, 2);
  service.faults.add({ on: 'request', type: 'delay', delayMs: 1_000 });
  const held = create(service, 1);
  await create(service, 3);
  const request = service.requests[2];
  expect(request).toMatchObject({ fault: 'delay', ended: false });
  await clock.advance(1_000);
  await held;
  expect(request).toMatchObject({ status: 401, ended: true });
  expect(service.requests).toHaveLength(6);
});
