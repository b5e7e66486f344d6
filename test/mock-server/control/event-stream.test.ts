import { expect, test } from 'vitest';
import { createManualClock, startMockServer } from '../../../src/mock-server/index.js';
import { createPayment, postPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { control, listen } from './control-client.js';

test('reports a payment, its request, its delivery and the attempts, as they happen', async () => {
  await using endpoint = await startEndpoint();
  await using server = await startMockServer({ callbackUrl: endpoint.url });
  await using events = await listen(server);
  const referenceNumber = await createPayment(server);
  expect(await events.next('request')).toMatchObject({ request: { ended: false } });
  expect(await events.next('payment')).toMatchObject({ payment: { status: 'pending' } });
  expect(await events.next('request')).toMatchObject({ request: { ended: true, status: 201 } });
  await server.setStatus(referenceNumber, 'paid');
  expect(await events.next('payment')).toMatchObject({ payment: { status: 'paid' } });
  expect(await events.next('delivery')).toMatchObject({ delivery: { state: 'sending' } });
  expect(await events.next('attempt')).toMatchObject({
    attempt: { referenceNumber, outcome: 'acknowledged', rawBody: expect.any(String) },
  });
  expect(await events.next('delivery')).toMatchObject({ delivery: { state: 'acknowledged' } });
});

test('reports faults that are added, used up and cleared', async () => {
  await using server = await startMockServer();
  await using events = await listen(server);
  server.faults.add({ on: 'request', type: 'server-error', times: 2 });
  expect(await events.next('faults')).toMatchObject({ faults: [{ times: 2 }] });
  await postPayment(server);
  expect(await events.next('faults')).toMatchObject({ faults: [{ times: 1 }] });
  server.faults.clear();
  expect(await events.next('faults')).toMatchObject({ faults: [] });
});

test('reports settings, the clock and a reset, each with the new settings', async () => {
  await using server = await startMockServer({ clock: createManualClock({ now: 0 }) });
  await using events = await listen(server);
  server.callbackUrl = 'http://127.0.0.1:9/';
  expect(await events.next('settings')).toMatchObject({
    settings: { callbackUrl: 'http://127.0.0.1:9/' },
  });
  await control(server, 'POST', '/clock/advance', { ms: 1_000 });
  expect(await events.next('settings')).toMatchObject({
    settings: { now: '1970-01-01T00:00:01.000Z' },
  });
  server.reset();
  expect(await events.next('reset')).toMatchObject({ settings: { url: server.url } });
});

test('ends when the service is closed', async () => {
  const server = await startMockServer();
  await using events = await listen(server);
  await server.close();
  await events.ended();
});
