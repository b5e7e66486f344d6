import { expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { control } from '../control/control-client.js';
import { startWithPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';

test('the last 10,000 deliveries are kept; an older one can not be sent again', async () => {
  await using endpoint = await startEndpoint();
  const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
  await using _ = server;
  const first = await server.setStatus(referenceNumber, 'first');
  server.callbackUrl = undefined;
  const second = await server.setStatus(referenceNumber, 'second');
  for (let count = 0; count < 9_998; count += 1) await server.setStatus(referenceNumber, 'next');
  expect((await server.resend(first.id)).status).toBe('first');
  // That one was the 10,001st.
  await expect(server.resend(first.id)).rejects.toMatchObject({ option: 'referenceNumber' });
  expect((await server.resend(second.id)).status).toBe('second');
  // On a slow machine that took longer than the server keeps an idle connection: both ends notice.
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  const { body } = await control(server, 'GET', `/payments/${referenceNumber}`);
  expect(body['deliveries']).toHaveLength(10_000);
});

test('attempts are kept up to 64 MiB; older ones make room, in their delivery too', async () => {
  const { server, referenceNumber } = await startWithPayment({
    callbackUrl: 'http://127.0.0.1:9/',
    retryScheduleMs: [],
  });
  await using _ = server;
  const fault = { on: 'callback', type: 'extra-field', value: 'x'.repeat(8_000_000) } as const;
  const sent = [];
  for (let count = 0; count < 6; count += 1) {
    sent.push(await server.resend(referenceNumber, { fault }));
  }
  // Each is kept twice: as it was sent, and as it was signed.
  expect(server.deliveries).toHaveLength(4);
  expect(sent.map(({ attempts }) => attempts.length)).toEqual([0, 0, 1, 1, 1, 1]);
});

test('requests are kept up to 64 MiB, authenticated or not', async () => {
  await using server = await startMockServer();
  const body = `"${'x'.repeat(1_000_000)}"`;
  for (let count = 0; count < 20; count += 1) {
    await fetch(`${server.url}/api/payments`, { method: 'POST', body });
  }
  // A body counts four times, since it is kept parsed as well.
  expect(server.requests).toHaveLength(16);
});

test('a payment keeps its last 100 statuses', async () => {
  const { server, referenceNumber } = await startWithPayment({});
  await using _ = server;
  for (let count = 1; count <= 150; count += 1) {
    await server.setStatus(referenceNumber, `status-${count}`);
  }
  const history = server.payments.get(referenceNumber)?.history ?? [];
  expect(history).toHaveLength(100);
  expect([history[0]?.status, history.at(-1)?.status]).toEqual(['status-51', 'status-150']);
});
