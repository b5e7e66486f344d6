import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createClient,
  created,
  holdClocks,
  noRetries,
  order,
  startForgetfulServer,
  startRawServer,
} from './raw-server.js';

// What docs/test-your-integration.md tells for node:test.

describe.each<[string, Parameters<typeof vi.useFakeTimers>[0]]>([
  ["toFake: ['Date']", { toFake: ['Date'] }],
  ['a list without setImmediate', { toFake: ['Date', 'setTimeout', 'clearTimeout'] }],
])('under fake timers of vitest with %s', (_name, config) => {
  it('payments are created, on a new connection and on a kept one', async () => {
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers(config);
    for (let call = 1; call <= 3; call += 1) {
      expect((await client.payments.create(order)).response.attempts).toBe(1);
    }
    expect(server.connections).toHaveLength(1);
  });

  it('a kept connection is not used after its time, although the timer of undici stands still', async () => {
    const ahead = holdClocks();
    const server = await startForgetfulServer();
    const client = createClient(server.url, noRetries);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers(config);
    await client.payments.create(order);
    ahead.monotonicMs = 6_500;
    expect((await client.payments.create(order)).response.attempts).toBe(1);
    expect(server.connections).toHaveLength(2);
  });
});

// A separate process: fake immediates that undici clears as real ones stop Node's for good.
const NODE_TEST = `
  import { mock } from 'node:test';
  const { PaymentClient } = await import(process.env.TEST_PROGRAMS + '/package.js');
  const [, baseUrl, hangingUrl, apis, calls] = process.argv;
  const options = { apiKey: 'k', apiSecret: 's', maxRetries: 0 };
  const order = ${JSON.stringify(order)};
  mock.timers.enable({ apis: JSON.parse(apis) });
  const client = new PaymentClient({ baseUrl, ...options });
  const seen = [];
  for (let call = 0; call < Number(calls); call += 1) {
    seen.push((await client.payments.create(order)).response.status);
  }
  const hanging = new PaymentClient({ baseUrl: hangingUrl, ...options, timeoutMs: 100 });
  seen.push((await hanging.payments.create(order).catch((error) => error)).code);
  console.log(JSON.stringify(seen));
  process.exit();
`;

describe('under mock.timers of node:test', () => {
  it.each([
    // undici waits for a fake immediate when it takes up a kept connection.
    ['all of them, a first payment', ['setTimeout', 'setInterval', 'setImmediate', 'Date'], 1],
    ['Date', ['Date'], 3],
    ['all but setImmediate', ['setTimeout', 'setInterval', 'Date'], 3],
  ])('%s: payments are created, and timeoutMs holds', async (_name, apis, calls) => {
    const server = await startRawServer({ answer: () => created });
    const hanging = await startRawServer({});
    const script = ['--input-type=module', '--eval', NODE_TEST];
    const args = [...script, server.url, hanging.url, JSON.stringify(apis), String(calls)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 30_000 });
    expect(JSON.parse(stdout)).toEqual([...Array(calls).fill(201), 'TIMEOUT']);
  });
});
