import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createManualClock, startMockServer } from '../../../src/mock-server/index.js';
import { manualClock } from '../../../src/mock-server/state/clock.js';
import { createPayment, postPayment, rawCreation } from '../merchant-client.js';
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

test('reports when a delivery is held, waits for a retry, and is sent again', async () => {
  const clock = createManualClock();
  await using endpoint = await startEndpoint((count) => (count === 2 ? 500 : 200));
  await using server = await startMockServer({
    clock,
    callbackUrl: endpoint.url,
    retryScheduleMs: [1_000],
  });
  const referenceNumber = await createPayment(server);
  await using events = await listen(server);
  const nextState = async () => {
    const event = await events.next('delivery');
    return event.type === 'delivery' && event.delivery.state;
  };
  server.faults.add({ on: 'callback', type: 'reorder' });
  await server.setStatus(referenceNumber, 'authorised');
  expect([await nextState(), await nextState()]).toEqual(['sending', 'held']);
  await server.setStatus(referenceNumber, 'paid');
  expect([await nextState(), await nextState()]).toEqual(['sending', 'acknowledged']);
  expect([await nextState(), await nextState()]).toEqual(['sending', 'retrying']);
  await control(server, 'POST', '/clock/advance', { ms: 1_000 });
  expect([await nextState(), await nextState()]).toEqual(['sending', 'acknowledged']);
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

test('ends without ending the process when an event can’t be written', async () => {
  const clock = createManualClock({ now: 0 });
  let nowMs = 0;
  manualClock(clock, 'clock').now = () => nowMs;
  await using server = await startMockServer({ clock });
  await using events = await listen(server);
  nowMs = Number.NaN;
  await expect(postPayment(server)).rejects.toThrow();
  await events.ended();
  nowMs = 0;
  expect((await postPayment(server)).status).toBe(201);
});

test('ends when the service is closed', async () => {
  const server = await startMockServer();
  await using events = await listen(server);
  await server.close();
  await events.ended();
});

test('accepts 64 listeners, and another once one has left', async () => {
  await using server = await startMockServer();
  const streams = await Promise.all(Array.from({ length: 64 }, () => listen(server)));
  expect(await control(server, 'GET', '/events')).toMatchObject({
    status: 503,
    body: { code: 'UNAVAILABLE', message: expect.stringContaining('64') },
  });
  await streams[0]?.[Symbol.asyncDispose]();
  // The server notices once the end of the connection has reached it.
  await expect
    .poll(async () => {
      const answer = await fetch(`${server.url}/_mock/events`);
      if (answer.status !== 200) return answer.status;
      await answer.body?.cancel();
      return answer.status;
    })
    .toBe(200);
  for (const stream of streams) await stream[Symbol.asyncDispose]();
});

test('clients that disconnect behind a hanging request take no place', async () => {
  await using server = await startMockServer();
  server.faults.add({ on: 'request', type: 'hang', times: Number.POSITIVE_INFINITY });
  const { port } = new URL(server.url);
  const pipelined = `${rawCreation(server)}GET /_mock/events HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  for (let count = 0; count < 64; count += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(pipelined);
    await expect.poll(() => server.requests.length, { interval: 2 }).toBe(count + 1);
    socket.destroy();
    await once(socket, 'close');
  }
  await expect
    .poll(async () => {
      const answer = await fetch(`${server.url}/_mock/events`);
      await answer.body?.cancel();
      return answer.status;
    })
    .toBe(200);
});
