import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { createPayment, readEvents, runCommand, startCommand, startMock } from './run-command.js';

const ENV_LINES = /^MERCHANT_PAYMENTS_(\w+)=(.*)$/gm;

function envOf(stdout: string): Record<string, string> {
  return Object.fromEntries(
    [...stdout.matchAll(ENV_LINES)].map(([, name, value]) => [name, value]),
  );
}

/** Creates a payment as a merchant does, through the API of the service. */
function sendPayment(url: string, reference: string): Promise<Response> {
  return fetch(`${url}/api/payments`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa('mock_api_key:mock_api_secret')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ merchantPaymentReference: reference, amount: 5, currency: 'EUR' }),
  });
}

test('prints its address, that of the dashboard, and what to paste into a .env', async () => {
  await using mock = await startMock();
  const { stdout } = mock.output;
  expect(stdout).toContain(`address    ${mock.url}\n`);
  expect(stdout).toContain(`dashboard  ${mock.url}/_mock/\n`);
  expect(stdout).toContain('callbacks  off; pass --callback-url, or set it in the dashboard\n');
  expect(envOf(stdout)).toEqual({
    BASE_URL: mock.url,
    API_KEY: 'mock_api_key',
    API_SECRET: 'mock_api_secret',
    SIGNING_SECRET: 'mock_signing_secret',
  });
  expect(stdout).toContain('These credentials are not secret');
  expect(stdout).toContain('With explainAnswers: true, your handler answers why it refused');
  expect(mock.output.stderr).toBe('');
  expect((await fetch(`${mock.url}/_mock/`)).headers.get('content-type')).toContain('text/html');
});

test.each([
  ['a word', 'plain-word_1', 'plain-word_1'],
  ['spaces and a hash', 'a secret # of mine', "'a secret # of mine'"],
  ['a backslash', 'a\\nb\\', "'a\\nb\\'"],
  ['a dollar and a backtick', 'a$B`c`', "'a$B`c`'"],
])('a secret with %s is read back from the printed .env', async (_what, secret, written) => {
  await using mock = await startMock(`--signing-secret=${secret}`);
  expect(envOf(mock.output.stdout)['SIGNING_SECRET']).toBe(written);
  expect(parseEnv(mock.output.stdout)).toMatchObject({
    MERCHANT_PAYMENTS_API_KEY: 'mock_api_key',
    MERCHANT_PAYMENTS_SIGNING_SECRET: secret,
  });
});

test('logs each request and each callback in a line', async () => {
  await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
  await using mock = await startMock('--callback-url', endpoint.url, '--retry-schedule', '1h');
  await mock.run('fault', 'add', 'request', 'lost-answer', '--match', 'merchantPaymentReference=b');
  await sendPayment(mock.url, 'a');
  await sendPayment(mock.url, 'b').catch(() => undefined);
  await sendPayment(mock.url, 'b');
  await mock.run('payments', 'set-status', 'a', 'paid');
  await mock.run('clock', 'advance', '1h');
  await mock.printed(/try 2/);
  const [, log = ''] = mock.output.stdout.split('Ctrl-C to stop.\n\n');
  expect(log.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d {2}→ POST \/api\/payments 201 a 5 EUR$/),
    expect.stringMatching(/^.{8} {2}→ POST \/api\/payments 201 lost b 5 EUR, fault lost-answer$/),
    expect.stringMatching(/^.{8} {2}→ POST \/api\/payments 201 b 5 EUR, second payment$/),
    expect.stringMatching(/^.{8} {2}← 500 a paid, try 1, retry in 1h$/),
    expect.stringMatching(/^.{8} {2}← 200 a paid, try 2$/),
    ...(log.includes('moved ahead') ? [expect.stringContaining('moved ahead')] : []),
  ]);
});

test('with --payment-page the answer to a creation names the page to pay on', async () => {
  await using mock = await startMock('--payment-page');
  const answer = (await (await sendPayment(mock.url, 'a')).json()) as { paymentUrl: string };
  expect(answer.paymentUrl).toContain(`${mock.url}/_mock/pay/`);
});

test('with --json prints where it listens, then one line per event, and nothing else', async () => {
  await using endpoint = await startEndpoint();
  await using mock = await startMock('--callback-url', endpoint.url, '--seed', '7', '--json');
  await sendPayment(mock.url, 'a\u001b');
  await mock.run('fault', 'add', 'callback', 'duplicate', '--times', 'unlimited');
  await mock.run('payments', 'set-status', 'a\u001b', 'paid');
  await mock.printed(/"type":"delivery".*"state":"acknowledged"/);
  expect(mock.output.stdout).not.toContain('\u001b');
  const [listening, ...events] = readEvents(mock);
  expect(listening).toEqual({
    type: 'listening',
    url: mock.url,
    dashboardUrl: `${mock.url}/_mock/`,
    apiKey: 'mock_api_key',
    apiSecret: 'mock_api_secret',
    signingSecret: 'mock_signing_secret',
    seed: 7,
    callbackUrl: endpoint.url,
  });
  const find = (type: string) => events.filter((event) => event['type'] === type);
  expect(find('payment')).toMatchObject([
    { payment: { merchantPaymentReference: 'a\u001b', status: 'pending' } },
    { payment: { status: 'paid' } },
  ]);
  expect(find('request').at(-1)).toMatchObject({
    request: { method: 'POST', path: '/api/payments', status: 201, ended: true },
  });
  expect(find('request').at(-1)?.['request']).not.toHaveProperty('json');
  expect(find('attempt')[0]).toMatchObject({
    attempt: { outcome: 'acknowledged', rawBody: expect.stringContaining('"paid"') },
  });
  expect(find('faults')[0]).toMatchObject({ faults: [{ type: 'duplicate', times: 'unlimited' }] });
  expect(find('delivery').at(-1)?.['delivery']).toEqual({
    id: expect.any(String),
    referenceNumber: expect.any(String),
    merchantPaymentReference: 'a\u001b',
    status: 'paid',
    state: 'acknowledged',
  });
  expect(mock.output.stdout).not.toContain('mock_api_key:');
  expect(mock.output.stdout).not.toContain(btoa('mock_api_key:mock_api_secret'));
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends it with 0 and frees the port',
  async (signal) => {
    const mock = await startMock();
    // A request that is held must not keep it.
    await mock.run('fault', 'add', 'request', 'hang');
    const held = sendPayment(mock.url, 'a').catch((error) => error);
    await mock.run('payments', 'list');
    mock.kill(signal);
    const { code, stderr } = await mock.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await held).toBeInstanceOf(Error);
    expect(mock.output.stdout).not.toContain('reset');
    await using next = startCommand(['mock', '--port', new URL(mock.url).port]);
    await next.printed(/Ctrl-C to stop/);
  },
);

test('a port in use is named, with the flag to use', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, stdout, stderr } = await runCommand(['mock', '--port', String(port)]);
  await new Promise((resolve) => server.close(resolve));
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: `merchant-payments: Port ${port} of 127.0.0.1 is in use: stop what listens there, or choose another port; set them by --host and --port (0 for a free one)\n`,
  });
});

test('warns when others than this machine can reach it', async () => {
  await using open = await startMock('--host', '0.0.0.0', '--json');
  expect(open.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  open.kill('SIGTERM');
  const { stderr, stdout } = await open.ended;
  expect(stderr).toMatch(
    /^warning: listening on 0\.0\.0\.0: anyone who reaches this port .*credentials are public/,
  );
  expect(stdout.split('\n')).toHaveLength(2);
  await using closed = await startMock('--host', 'localhost');
  closed.kill('SIGTERM');
  expect((await closed.ended).stderr).toBe('');
});

test('passes every setting on', async () => {
  await using endpoint = await startEndpoint(() => 500);
  await using mock = await startMock(
    ...['--callback-url', endpoint.url, '--retry-schedule', '500ms, 1m,1d'],
    ...['--retry-signing', 'original', '--signature-encoding', 'base64'],
    ...['--initial-status', 'new'],
  );
  expect(await createPayment(mock, 'a')).toMatchObject({ status: 'new' });
  await mock.run('payments', 'set-status', 'a', 'paid');
  await mock.run('clock', 'advance', '2d');
  const [first, last] = [endpoint.received[0], endpoint.received[3]];
  expect(first?.headers['x-signature']).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  expect(last?.headers['x-signature']).toBe(first?.headers['x-signature']);
});

test('a schedule of none means no retry', async () => {
  await using endpoint = await startEndpoint(() => 500);
  await using mock = await startMock('--retry-schedule', 'none', '--callback-url', endpoint.url);
  await createPayment(mock, 'a');
  const delivery = await mock.json('payments', 'set-status', 'a', 'paid');
  expect(delivery).toMatchObject({ state: 'given-up' });
});

test.each([
  [
    ['--callback-url', 'localhost:3000'],
    'must begin with http:// or https://; give http://localhost:3000',
  ],
  [['--port', 'abc'], '--port must be a whole number from 0 to 65535, in digits; received abc'],
  [['--callback-url', 'http://a:hunter2@b'], '--callback-url must not hold a user name'],
  [['--retry-schedule', '1s,2'], 'each part of --retry-schedule must be a number with its unit'],
  [['--retry-signing', 'new'], '--retry-signing must be one of fresh, original'],
  [['--signature-encoding', 'utf8'], '--signature-encoding must be one of hex, base64, base64url'],
  [['--seed', 'x'], '--seed must be a whole number'],
  [['--api-key', 'a:hunter2'], 'apiKey must not contain a colon'],
  [['--initial-status', ' '], 'initialStatus must be'],
  [['--after', 'soon'], '--after must be a number with its unit'],
  [['--answer-field', 'a'], '--answer-field must be of the form name=value'],
  [['--answer-field', 'status=paid'], 'answerFields must not hold status'],
  [['--host', '192.0.2.1'], '192.0.2.1, port 4242'],
  [['extra'], 'there are too many arguments'],
])('%j is refused in a line, with exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await runCommand(['mock', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^merchant-payments: [^\n]+\n$/);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('hunter2');
});

test('with --state what happened survives a restart', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'mock-state-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const state = ['--state', path.join(folder, 'state.json')];
  const first = await startMock(...state);
  await createPayment(first, 'a');
  first.kill('SIGTERM');
  expect((await first.ended).code).toBe(0);
  await using second = await startMock(...state);
  expect(await second.json('payments', 'list')).toMatchObject({ total: 1 });
  expect(await second.json('requests', 'list')).toMatchObject({ total: 1 });
});
