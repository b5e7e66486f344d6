import { expect, test } from 'vitest';
import { callbackLine, EventLog, requestLine } from '../../src/cli/event-lines.js';
import type { RecordedRequest } from '../../src/mock-server/api/recorded-request.js';
import type { DeliveryAttempt } from '../../src/mock-server/callbacks/delivery.js';
import { createMockService } from '../../src/mock-server/service.js';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';

const at = new Date(2026, 0, 31, 7, 8, 9);
const asIs = (_style: string, text: string) => text;
const styled = (style: string, text: string) => `<${style}>${text}`;

/** A mock service whose events are written into lines. */
function startLog(options: Parameters<typeof createMockService>[0] = {}) {
  const service = createMockService({ retryScheduleMs: [], ...options });
  const lines: string[] = [];
  const log = new EventLog(asIs, () => at);
  service.subscribe((event) => {
    const line = log.line(event);
    if (line !== undefined) lines.push(line.slice('07:08:09  '.length));
  });
  const post = (body: string, signal = new AbortController().signal) =>
    service.fetch(
      new Request('http://mock.test/api/payments', {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('a:b')}`, 'content-type': 'application/json' },
        body,
        signal,
      }),
    );
  const create = (reference: string, signal?: AbortSignal) =>
    post(
      JSON.stringify({ merchantPaymentReference: reference, amount: 2500, currency: 'EUR' }),
      signal,
    );
  return { service, lines, post, create };
}

test('each line begins with the local time of day', () => {
  const log = new EventLog(styled, () => at);
  expect(log.line({ type: 'reset' })).toBe('<dim>07:08:09  · reset, everything removed');
  const message = 'The mock keeps 10,000 payments\u001b';
  expect(log.line({ type: 'limit', kind: 'payments', message })).toMatch(
    /07:08:09 {2}· <yellow>The mock keeps 10,000 payments\\x1b$/,
  );
});

test('a lost answer, and a request without any, are told apart', async () => {
  const { service, lines, create } = startLog();
  service.faults.add({ on: 'request', type: 'lost-answer' });
  await create('a').catch(() => undefined);
  service.faults.add({ on: 'request', type: 'hang' });
  const leave = new AbortController();
  const held = create('b', leave.signal).catch(() => undefined);
  await service.waitForRequest({ merchantPaymentReference: 'b' });
  expect(lines).toHaveLength(1);
  leave.abort();
  await held;
  expect(lines).toEqual([
    '→ POST /api/payments 201 lost a 2500 EUR, fault lost-answer',
    '→ POST /api/payments no answer b 2500 EUR, fault hang',
  ]);
});

test.each(['null', 'no JSON'])(
  'the body %s, which has no reference, is a request all the same',
  async (body) => {
    const { lines, post } = startLog();
    await post(body);
    expect(lines).toEqual([
      expect.stringMatching(/^→ POST \/api\/payments 400: INVALID_REQUEST: /),
    ]);
  },
);

test('neither a path nor a reference can drive the terminal', async () => {
  const { service, lines, create } = startLog();
  await service.fetch(new Request('http://mock.test/%1b?\u202e'));
  await create('a\u001b[2J');
  expect(lines).toEqual([
    expect.stringMatching(/^→ GET \/%1b\?%E2%80%AE 4/),
    '→ POST /api/payments 201 a\\x1b[2J 2500 EUR',
  ]);
});

const attempt = {
  merchantPaymentReference: 'order-1007',
  status: 'paid',
  attempt: 1,
  copy: 0,
  sentAt: at,
  latencyMs: 20,
  timestamp: '1',
  rawBody: new TextEncoder().encode('{}'),
  signedString: '1.{}',
  outcome: 'refused',
  response: { status: 503, body: '' },
} as unknown as DeliveryAttempt;
const after = (ms: number) => new Date(at.getTime() + attempt.latencyMs + ms);

test.each([
  [312, '300ms'],
  [1_000, '1s'],
  [600_300, '10m'],
])('a retry in %i ms is %s away', (ms, words) => {
  expect(callbackLine({ ...attempt, nextRetryAt: after(ms) }, asIs)).toBe(
    `← 503 order-1007 paid, try 1, retry in ${words}`,
  );
});

test('a callback says why it failed', () => {
  const line = (changes: object) => callbackLine({ ...attempt, ...changes }, asIs);
  const none = { response: undefined };
  expect(line({})).toBe('← 503 order-1007 paid, try 1, no retry left');
  expect(line({ copy: 2, fault: 'duplicate' })).toBe(
    '← 503 order-1007 paid, try 1 copy 2, fault duplicate',
  );
  expect(line({ ...none, outcome: 'failed', errorCode: 'ECONNREFUSED' })).toMatch(
    /^← ECONNREFUSED /,
  );
  expect(line({ ...none, outcome: 'timed-out' })).toMatch(/^← no answer order-1007/);
  expect(line({ ...none, outcome: 'dropped' })).toMatch(/^← dropped order-1007/);
  const body = JSON.stringify({ code: 'SIGNATURE_MISMATCH', message: 'other secret\u001b' });
  expect(line({ response: { status: 401, body } })).toBe(
    '← 401 order-1007 paid, try 1, no retry left: SIGNATURE_MISMATCH: other secret\\x1b',
  );
});

test('what went well is green, what did not is red', () => {
  expect(callbackLine(attempt, styled)).toMatch(/^← <red>503 /);
  const accepted = {
    ...attempt,
    outcome: 'acknowledged',
    response: { status: 200, body: '' },
  } as const;
  expect(callbackLine(accepted, styled)).toMatch(/^← <green>200 /);
  expect(callbackLine({ ...accepted, fault: 'wrong-secret' }, styled)).toMatch(
    /^← <red>200 .*<red>a forgery that your endpoint accepted$/,
  );
  const refused = { ...attempt, response: { status: 401, body: '' } };
  expect(callbackLine({ ...refused, fault: 'wrong-secret' }, styled)).toMatch(/^← <green>401 /);
  const sent = { method: 'POST', path: '/', body: '', status: 201, fault: 'delay' };
  const request = sent as RecordedRequest;
  expect(requestLine(request, styled)).toBe('→ POST / <green>201, <yellow>fault delay');
  expect(requestLine({ ...request, status: 500 }, styled)).toContain('<red>500');
});

test('a callback that is held, dropped or not configured says so', async () => {
  await using endpoint = await startEndpoint();
  const { service, lines, create } = startLog();
  await create('a');
  await service.setStatus('a', 'paid');
  expect(lines.at(-1)).toMatch(/^← not sent a paid: no callback URL is set; pass --callback-url/);
  service.callbackUrl = endpoint.url;
  service.faults.add({ on: 'callback', type: 'drop' });
  await service.setStatus('a', 'lost');
  expect(lines.at(-1)).toBe('← dropped a lost, try 1, fault drop, no retry left');
  service.faults.add({ on: 'callback', type: 'reorder' });
  await service.setStatus('a', 'kept');
  expect(lines.at(-1)).toBe("← held a kept until the payment's next change");
  await service.close();
});
