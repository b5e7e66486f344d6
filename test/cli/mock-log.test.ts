import { expect, test } from 'vitest';
import { MockLog, toJsonEvent } from '../../src/cli/mock-log.js';
import type { DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import { viewAttempt } from '../../src/mock-server/control/control-view.js';
import { createMockService } from '../../src/mock-server/service.js';
import { reserveClosedPort, startEndpoint } from '../mock-server/merchant-endpoint.js';

const at = () => new Date(2026, 0, 31, 7, 8, 9);
const asIs = (_style: string, text: string) => text;

/** A mock service whose events are written into lines. */
function startLog(options: Parameters<typeof createMockService>[0] = {}) {
  const service = createMockService({ retryScheduleMs: [], ...options });
  const lines: string[] = [];
  const clock = { ms: 0 };
  const log = new MockLog(asIs, () => new Date(at().getTime() + clock.ms));
  service.subscribe((event) => {
    const line = log.describe(event);
    if (line !== undefined) lines.push(line);
  });
  const create = (reference: string, signal = new AbortController().signal) =>
    service.fetch(
      new Request('http://mock.test/api/payments', {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('a:b')}`, 'content-type': 'application/json' },
        body: JSON.stringify({ merchantPaymentReference: reference, amount: 5, currency: 'EUR' }),
        signal,
      }),
    );
  const setStatus = async (status: string) => {
    const [payment] = service.payments.list();
    await service.setStatus(payment?.referenceNumber ?? '', status);
  };
  return { service, clock, lines, create, setStatus };
}

test('a line begins with the local time of day', async () => {
  const { lines, create } = startLog();
  await create('a');
  expect(lines[0]).toMatch(/^07:08:09 {2}payment {3}a created, 5 EUR, /);
});

test('a limit that was reached is one line', () => {
  const message = 'The mock service keeps 10,000 payments\u001b';
  const line = new MockLog(asIs, at).describe({ type: 'limit', kind: 'payments', message });
  expect(line).toMatch(/^07:08:09 {2}limit {5}The mock service keeps 10,000 payments\S+$/);
});

test('a request is one line, written when it is over', async () => {
  const { service, clock, lines, create } = startLog();
  service.faults.add({ on: 'request', type: 'hang' });
  const leave = new AbortController();
  const held = create('a', leave.signal).catch(() => undefined);
  await service.waitForRequest({ merchantPaymentReference: 'a' });
  expect(lines).toEqual([]);
  clock.ms = 1234;
  leave.abort();
  await held;
  service.reset();
  expect(lines.map((line) => line.slice(10))).toEqual([
    expect.stringMatching(
      /^request {3}POST \/api\/payments, connection broken, fault hang, a, 1234 ms$/,
    ),
    'reset     everything removed',
  ]);
});

test('a body without a reference is a request all the same', async () => {
  const { service, lines } = startLog();
  for (const body of ['null', '7', '{}', '{"merchantPaymentReference":7}', 'no JSON']) {
    await service.fetch(
      new Request('http://mock.test/api/payments', {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('a:b')}`, 'content-type': 'application/json' },
        body,
      }),
    );
  }
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(line).toMatch(/request {3}POST \/api\/payments, 400, \d+ ms$/);
});

test('a path can not drive the terminal', async () => {
  const { service, lines } = startLog();
  await service.fetch(new Request('http://mock.test/%1b?\u202e'));
  expect(lines[0]).toMatch(/GET \/%1b\?%E2%80%AE, 4/);
});

test('logs the copies of an attempt, and the end of all retries', async () => {
  const port = await reserveClosedPort();
  const { service, lines, create, setStatus } = startLog({
    callbackUrl: `http://127.0.0.1:${port}/`,
  });
  await create('a');
  service.faults.add({ on: 'callback', type: 'duplicate' });
  lines.length = 0;
  await setStatus('paid');
  expect(lines.map((line) => line.slice(10))).toEqual([
    expect.stringMatching(/^payment {3}a created → paid, /),
    expect.stringMatching(
      /^callback {2}a paid, attempt 1, failed, ECONNREFUSED, \d+ ms, fault duplicate$/,
    ),
    expect.stringMatching(/^callback {2}a paid, attempt 1 \(copy 1\), failed, /),
    'callback  a paid, will not be retried',
  ]);
  await service.close();
});

test('an attempt as JSON has the fields that it has over HTTP, and no other', async () => {
  const port = await reserveClosedPort();
  const { service, create, setStatus } = startLog({ callbackUrl: `http://127.0.0.1:${port}/` });
  await create('a');
  await setStatus('paid');
  const [attempt] = service.deliveries as [DeliveryAttempt];
  const json = (value: unknown) => JSON.parse(JSON.stringify(value));
  expect(json(toJsonEvent({ type: 'attempt', attempt }))).toEqual({
    type: 'attempt',
    attempt: json(viewAttempt(attempt)),
  });
  await service.close();
});

test('logs a callback that is held, dropped or not configured', async () => {
  await using endpoint = await startEndpoint();
  const { service, lines, create, setStatus } = startLog();
  await create('a\u001b');
  await setStatus('paid');
  expect(lines.at(-1)).toMatch(/callback {2}a\\x1b paid, not sent: no callback URL is set$/);
  service.callbackUrl = endpoint.url;
  service.faults.add({ on: 'callback', type: 'drop' });
  lines.length = 0;
  await setStatus('lost');
  expect(lines[1]).toMatch(/callback {2}a\\x1b lost, attempt 1, dropped, fault drop$/);
  service.faults.add({ on: 'callback', type: 'reorder' });
  await setStatus('kept');
  expect(lines.at(-1)).toMatch(/callback {2}a\\x1b kept, held until the payment's next change$/);
  await service.close();
});

test('what went well is green, what did not is red', async () => {
  const styled = new MockLog((style, text) => `<${style}>${text}`, at);
  const { service, create } = startLog();
  const lines: (string | undefined)[] = [];
  service.subscribe((event) => lines.push(styled.describe(event)));
  await create('a');
  service.faults.add({ on: 'request', type: 'server-error' });
  await create('a');
  expect(lines.join('\n')).toContain('<green>201');
  expect(lines.join('\n')).toContain('<red>500, <yellow>fault server-error');
  expect(lines.join('\n')).toContain('<dim>07:08:09');
});
