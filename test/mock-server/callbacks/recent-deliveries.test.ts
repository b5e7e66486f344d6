import { expect, test } from 'vitest';
import { control } from '../control/control-client.js';
import { startWithPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';

test('the last 10,000 deliveries are kept; an older one has no attempts and can not be sent again', async () => {
  await using endpoint = await startEndpoint();
  const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
  await using _ = server;
  const first = await server.setStatus(referenceNumber, 'first');
  server.callbackUrl = undefined;
  const second = await server.setStatus(referenceNumber, 'second');
  for (let count = 0; count < 9_998; count += 1) await server.setStatus(referenceNumber, 'next');
  expect(first.attempts).toHaveLength(1);
  expect((await server.resend(first.id)).status).toBe('first');
  // That one was the 10,001st.
  expect(first.attempts).toEqual([]);
  await expect(server.resend(first.id)).rejects.toMatchObject({ option: 'referenceNumber' });
  expect((await server.resend(second.id)).status).toBe('second');
  const { body } = await control(server, 'GET', `/payments/${referenceNumber}`);
  expect(body['deliveries']).toHaveLength(10_000);
});

test('an attempt of a delivery that is no longer kept is still in the log', async () => {
  await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
  const { server, referenceNumber } = await startWithPayment({
    callbackUrl: endpoint.url,
    retryScheduleMs: [3_600_000],
  });
  await using _ = server;
  const first = await server.setStatus(referenceNumber, 'first');
  server.callbackUrl = undefined;
  for (let count = 0; count < 10_000; count += 1) await server.setStatus(referenceNumber, 'next');
  await control(server, 'POST', '/clock/advance', { ms: 3_600_000 });
  expect(first).toMatchObject({ state: 'acknowledged', attempts: [] });
  expect(server.deliveries.map(({ status, attempt }) => [status, attempt])).toEqual([
    ['first', 1],
    ['first', 2],
  ]);
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
