import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { startMockServer } from 'merchant-payments/mock-server';
import { expect, it, onTestFinished } from 'vitest';
import { startExample } from './example-process.js';
import { environmentFor, findPayment, signingSecret } from './payment-scene.js';

/** Runs the example until it has created a payment and handled its callback; what it printed. */
async function runExample(env: Record<string, string>): Promise<string> {
  await using service = await startMockServer({ signingSecret, retryScheduleMs: [] });
  service.faults.add({ on: 'request', type: 'rate-limit', retryAfterSeconds: 0 });
  const example = await startExample('observability/main.ts', {
    ...environmentFor(service),
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    ...env,
  });
  service.callbackUrl = example.url;
  expect(await (await fetch(new URL('/1001', example.url))).text()).toBe('created');
  await service.setStatus(findPayment(service, 'order-1001'), 'paid');
  await example.printed('order-1001 is paid');
  // What is not exported yet is exported at its end.
  await example.stop('SIGTERM');
  return example.lines.join('\n');
}

it('prints one span for a call of two requests, one for its callback, and the metrics', async () => {
  const printed = await runExample({});
  expect(printed.match(/name: 'POST \/api\/payments'/g)).toHaveLength(1);
  expect(printed).toContain("'http.request.resend_count': 1");
  expect(printed.match(/name: 'payment callback'/g)).toHaveLength(1);
  expect(printed).toContain("name: 'merchant_payments.calls'");
  expect(printed).toContain("name: 'merchant_payments.attention'");
  expect(printed).toContain("name: 'merchant_payments.attention.age'");
});

it('sends the same to a collector', async () => {
  const received: Record<string, string> = {};
  const collector = createServer(async (request, response) => {
    received[request.url ?? ''] = (received[request.url ?? ''] ?? '') + (await text(request));
    response.end('{}');
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  onTestFinished(() => void collector.close());
  const { port } = collector.address() as AddressInfo;
  await runExample({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  expect(Object.keys(received).sort()).toEqual(['/v1/metrics', '/v1/traces']);
  expect(received['/v1/traces']).toContain('POST /api/payments');
  expect(received['/v1/traces']).toContain('payment callback');
  expect(received['/v1/metrics']).toContain('merchant_payments.callbacks');
});
