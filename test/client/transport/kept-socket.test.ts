import diagnostics from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createClient,
  holdClocks,
  httpAnswer,
  noRetries,
  order,
  record,
  startForgetfulServer,
  startRawServer,
} from '../raw-server.js';
import { startProxy } from './connect-proxy.js';

const STALL = 6_500;
const HOUR = 3_600_000;

describe.each<[string, () => Promise<void>]>([
  ['straight to the service', async () => {}],
  [
    'through a proxy',
    async () => {
      vi.stubEnv('NODE_USE_ENV_PROXY', '1');
      vi.stubEnv('HTTP_PROXY', (await startProxy()).url);
      for (const name of ['http_proxy', 'no_proxy', 'NO_PROXY']) vi.stubEnv(name, undefined);
    },
  ],
])('%s, without retries', (_way, prepare) => {
  it.each<[string, { monotonicMs?: number; systemMs?: number }, Record<string, string>]>([
    ['the event loop was blocked', { monotonicMs: STALL, systemMs: STALL }, {}],
    ['the machine was suspended, and its monotonic clock stood still', { systemMs: STALL }, {}],
    ['the wall clock jumped ahead', { systemMs: HOUR }, {}],
    [
      'the wall clock was set back during a stall',
      { monotonicMs: STALL, systemMs: STALL - HOUR },
      {},
    ],
    [
      'the server keeps it for 5 s, in odd spelling',
      { monotonicMs: 3_001 },
      { 'Keep-Alive': 'max=7, Timeout = "5"' },
    ],
    ['the server only counts requests', { systemMs: STALL }, { 'keep-alive': 'max=7' }],
    ['the server keeps it for an hour', { systemMs: HOUR }, { 'keep-alive': 'timeout=3600' }],
    ['it was the last request', {}, { 'keep-alive': 'timeout=60, max=0' }],
    ['the server keeps it for 1 s', {}, { 'keep-alive': 'Timeout=1' }],
  ])('a payment is created on a new connection if %s', async (_why, jump, headers) => {
    await prepare();
    const ahead = holdClocks();
    const server = await startForgetfulServer(headers);
    const client = createClient(server.url, noRetries);
    await client.payments.create(order);
    Object.assign(ahead, jump);
    expect((await client.payments.create(order)).response.attempts).toBe(1);
    expect(server.connections).toHaveLength(2);
  });

  it('a payment is created on a new connection if the event loop is blocked right after the call', async () => {
    await prepare();
    const ahead = holdClocks();
    const server = await startForgetfulServer();
    const client = createClient(server.url, noRetries);
    await client.payments.create(order);
    const call = client.payments.create(order);
    ahead.monotonicMs = STALL;
    await call;
    expect(server.connections).toHaveLength(2);
  });

  it.each<[string, { monotonicMs?: number; systemMs?: number }, Record<string, string>]>([
    ['the next comes in time', { monotonicMs: 2_000, systemMs: 2_000 }, {}],
    ['the wall clock was set back', { systemMs: -HOUR }, {}],
    ['the server keeps it for a minute', { monotonicMs: 50_000 }, { 'keep-alive': 'timeout=60' }],
    ['more may follow', {}, { 'keep-alive': 'timeout=60, max=10' }],
  ])('payments share a connection if %s', async (_why, jump, headers) => {
    await prepare();
    const ahead = holdClocks();
    const server = await startRawServer({
      answer: () => httpAnswer(201, record, { 'content-type': 'application/json', ...headers }),
    });
    const client = createClient(server.url, noRetries);
    await client.payments.create(order);
    Object.assign(ahead, jump);
    await client.payments.create(order);
    expect(server.connections).toHaveLength(1);
  });
});

it('the call that waits for the last request of a connection gets a new one', async () => {
  const server = await startForgetfulServer({ 'keep-alive': 'timeout=60, max=0' });
  const client = createClient(server.url, noRetries);
  await Promise.all(Array.from({ length: 300 }, () => client.payments.create(order)));
  expect(server.requests).toHaveLength(300);
});

it('a call that is aborted while its new connection opens was not sent, and the next one is', async () => {
  const ahead = holdClocks();
  const server = await startForgetfulServer();
  const client = createClient(server.url, noRetries);
  await client.payments.create(order);
  ahead.monotonicMs = STALL;
  const caller = new AbortController();
  const abort = (): void => caller.abort();
  onTestFinished(() => void diagnostics.unsubscribe('undici:client:beforeConnect', abort));
  diagnostics.subscribe('undici:client:beforeConnect', abort);
  const error = await client.payments
    .create(order, { signal: caller.signal })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ABORTED', requestOutcome: 'not-sent' });
  await client.payments.create(order);
  expect(server.requests).toHaveLength(2);
});
