import { expect, test } from 'vitest';
import { startMockServer } from '../../../src/mock-server/index.js';
import { control } from './control-client.js';

test('ends for a reader that does not read, instead of filling the memory', async () => {
  await using server = await startMockServer();
  const leave = new AbortController();
  const answer = await fetch(`${server.url}/_mock/events`, { signal: leave.signal });
  const note = 'x'.repeat(500_000);
  const order = { merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR', note };
  for (let count = 0; count < 60; count += 1) await control(server, 'POST', '/api/payments', order);
  // What was sent can still be read; then the stream ends, before all sixty.
  let bytes = 0;
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
  }
  expect(bytes).toBeLessThan(60 * 500_000);
  leave.abort();
});
