import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { reserveClosedPort, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { createPayment, runCommand, startMock } from './run-command.js';

const creation = ['payments', 'create', '--reference', 'order-1', '--amount', '12.50'];
const createArgs = [...creation, '--currency', 'EUR'];

const credentials = {
  MERCHANT_PAYMENTS_API_KEY: 'mock_api_key',
  MERCHANT_PAYMENTS_API_SECRET: 'mock_api_secret',
};

async function startService(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    env: {
      ...credentials,
      MERCHANT_PAYMENTS_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a payment is created in the mock, with its additional fields', async () => {
  await using mock = await startMock();
  const fields = ['--field', 'customer={"id":7}', '--field', 'note=a=b', '--field', 'vip=true'];
  const { code, stdout, stderr } = await mock.run(...createArgs, ...fields);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^the payment was created\n {2}reference number {4}[-0-9a-f]{36}\n/);
  expect(stdout).toContain('  merchant reference  order-1\n  status              created\n');
  expect(stdout).toContain('  amount              12.5 EUR\n');
  expect(await mock.json('payments', 'list')).toMatchObject({
    total: 1,
    payments: [{ amount: 12.5, extra: { customer: { id: 7 }, note: 'a=b', vip: true } }],
  });
});

test('--json prints what the control interface answered, on one line', async () => {
  await using mock = await startMock();
  const { stdout } = await mock.run(...createArgs, '--json');
  expect(stdout.trimEnd()).not.toContain('\n');
  const { referenceNumber } = JSON.parse(stdout);
  const response = await fetch(`${mock.url}/_mock/payments/${referenceNumber}`);
  expect(await response.json()).toMatchObject({ payment: JSON.parse(stdout) });
});

test('--mock-url wins over the environment, and may be the address of the dashboard', async () => {
  await using mock = await startMock();
  const { code } = await runCommand([...createArgs, '--mock-url', `${mock.url}/_mock/`], {
    ...credentials,
    MERCHANT_PAYMENTS_MOCK_URL: 'http://127.0.0.1:9',
    MERCHANT_PAYMENTS_BASE_URL: 'http://127.0.0.1:9',
  });
  expect(code).toBe(0);
  expect(await mock.json('payments', 'list')).toMatchObject({ total: 1 });
});

test('without a mock a payment is created at the service, with its credentials', async () => {
  await using mock = await startMock();
  const env = { ...credentials, MERCHANT_PAYMENTS_BASE_URL: mock.url };
  const text = await runCommand([...createArgs, '--field', 'note=a'], env);
  expect(text).toMatchObject({ code: 0, stderr: `creating a payment at ${mock.url}\n` });
  expect(text.stdout).toContain('merchant reference  order-1');
  const json = await runCommand([...createArgs, '--json'], env);
  expect(JSON.parse(json.stdout)).toMatchObject({ merchantPaymentReference: 'order-1' });
  expect(await (await fetch(`${mock.url}/_mock/requests`)).json()).toMatchObject({
    requests: [{ authenticated: true }, { body: expect.stringContaining('"note":"a"') }],
  });
});

test.each([
  [
    'lost-answer',
    'CONNECTION_FAILED',
    'It is unknown whether the payment was created: look for it',
  ],
  ['reset-in-body', 'RESPONSE_UNUSABLE', 'the payment exists, do not create it again'],
  ['unauthorized', 'INVALID_CREDENTIALS', 'rejected the request, so no payment was created'],
  ['server-error', '', 'It is unknown whether the payment was created'],
])('after %s it says in words whether the payment may exist', async (fault, errorCode, words) => {
  await using mock = await startMock();
  await mock.run('fault', 'add', 'request', fault);
  const { code, stdout, stderr } = await runCommand(createArgs, {
    ...credentials,
    MERCHANT_PAYMENTS_BASE_URL: mock.url,
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const [, message] = stderr.split('\n');
  expect(message).toContain(`merchant-payments: ${errorCode}`);
  expect(message).toContain(words);
  expect(message).not.toContain('..');
  expect(stderr.split('\n')).toHaveLength(3);
  // It was tried once.
  expect(await (await fetch(`${mock.url}/_mock/requests`)).json()).toMatchObject({ total: 1 });
});

test('when the service is not there nothing was created', async () => {
  const port = await reserveClosedPort();
  const { code, stderr } = await runCommand(createArgs, {
    ...credentials,
    MERCHANT_PAYMENTS_BASE_URL: `http://127.0.0.1:${port}`,
  });
  expect(code).toBe(1);
  expect(stderr).toContain('CONNECTION_FAILED');
  expect(stderr).toContain('Nothing was sent, so no payment was created');
});

test.each([
  ['MERCHANT_PAYMENTS_API_KEY is not set,', {}],
  ['MERCHANT_PAYMENTS_API_SECRET is not set,', { MERCHANT_PAYMENTS_API_KEY: 'key' }],
  [
    'MERCHANT_PAYMENTS_API_SECRET: apiSecret must',
    { MERCHANT_PAYMENTS_API_KEY: 'key', MERCHANT_PAYMENTS_API_SECRET: ' hunter2' },
  ],
  [
    'MERCHANT_PAYMENTS_BASE_URL: baseUrl must',
    { ...credentials, MERCHANT_PAYMENTS_BASE_URL: 'http://hunter2.example' },
  ],
])('a variable that is missing or wrong is named: %s', async (beginning, env) => {
  const { code, stdout, stderr } = await runCommand(createArgs, {
    MERCHANT_PAYMENTS_BASE_URL: 'http://127.0.0.1:9',
    ...env,
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^merchant-payments: ${beginning} [^\n]*\n$`));
  expect(stderr).not.toContain('hunter2');
});

test('the API secret is on neither stream, whatever fails', async () => {
  const secret = 'hunter2-secret';
  const encoded = btoa(`hunter2-key:${secret}`);
  await using service = await startService((request, response) =>
    response
      .writeHead(400)
      .end(JSON.stringify({ code: 'X', message: request.headers.authorization })),
  );
  const env = {
    ...service.env,
    MERCHANT_PAYMENTS_API_KEY: 'hunter2-key',
    MERCHANT_PAYMENTS_API_SECRET: secret,
  };
  const { stdout, stderr } = await runCommand(createArgs, env);
  for (const text of ['hunter2', encoded]) expect(stdout + stderr).not.toContain(text);
});

test.each([
  [['--amount', '1', '--currency', 'EUR'], '--reference is missing'],
  [['--reference', 'a', '--currency', 'EUR'], '--amount is missing'],
  [['--reference', 'a', '--amount', '1'], '--currency is missing'],
  [['--reference', ' ', '--amount', '1', '--currency', 'EUR'], '--reference must not be blank'],
  [['--reference', 'a', '--amount', '1e3', '--currency', 'EUR'], '--amount must be a decimal'],
  [['--reference', 'a', '--amount', '', '--currency', 'EUR'], '--amount must be a decimal'],
  [['--reference', 'a', '--amount', '1', '--currency', 'eur'], '--currency must be three capital'],
  [['--field', 'amount=2'], '--field amount is not allowed: --amount sets it'],
  [['--field', 'a=1', '--field', 'a=2'], '--field a was given twice'],
  [['--field', 'a'], '--field must be of the form name=value'],
  [['extra'], 'too many arguments'],
])('%j is refused with exit code 2', async (args, message) => {
  const words = args[0] === 'extra' || args[0] === '--field' ? createArgs.slice(2) : [];
  const { code, stdout, stderr } = await runCommand(['payments', 'create', ...words, ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('payments are listed newest first, searched and limited', async () => {
  await using mock = await startMock();
  expect(await mock.run('payments', 'list')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'no payments, or none that match\n',
  });
  const first = await createPayment(mock, 'order-1');
  await createPayment(mock, 'other-2');
  const { stdout } = await mock.run('payments', 'list');
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^CREATED +REFERENCE NUMBER +MERCHANT REFERENCE +STATUS +AMOUNT +CURRENCY$/);
  expect(lines).toEqual([
    expect.stringMatching(/other-2 +created +5 {2}EUR$/),
    expect.stringContaining(`${first.referenceNumber}  order-1 `),
  ]);
  expect((await mock.run('payments', 'list', '--search', 'ORDER')).stdout).not.toContain('other-2');
  const limited = await mock.run('payments', 'list', '--limit', '1');
  expect(limited.stdout).not.toContain('order-1');
  expect(limited.stderr).toBe('1 of 2 shown\n');
  expect(await mock.run('payments', 'list', '--limit', '0')).toMatchObject({ code: 2 });
});

test('sets a status, and prints the answer of the endpoint', async () => {
  await using endpoint = await startEndpoint((count) =>
    count === 1
      ? 200
      : (response) => {
          response.writeHead(500).end('no\u001b[31m way');
        },
  );
  await using mock = await startMock('--callback-url', endpoint.url);
  const { referenceNumber } = await createPayment(mock, 'order-1');
  const taken = await mock.run('payments', 'set-status', referenceNumber, 'paid');
  expect(taken).toMatchObject({ code: 0, stderr: '' });
  expect(taken.stdout).toMatch(
    new RegExp(
      [
        `^payment ${referenceNumber} \\(order-1\\) is paid`,
        'delivery [-0-9a-f]{36}',
        `attempt 1 to ${endpoint.url}: acknowledged, HTTP 200, \\d+ ms`,
        'the endpoint accepted the callback\n$',
      ].join('\n'),
    ),
  );
  const refused = await mock.run('payments', 'set-status', 'order-1', 'refunded');
  expect(refused.code).toBe(0);
  expect(refused.stdout).toMatch(/: refused, HTTP 500, \d+ ms\n {2}answer: no\\x1b\[31m way\n/);
  expect(refused.stdout).toMatch(/the callback will be retried at \S+Z\n$/);
});

test('a status is set without an endpoint, held, and not accepted, and each is said', async () => {
  const port = await reserveClosedPort();
  await using alone = await startMock();
  await createPayment(alone, 'a');
  expect((await alone.run('payments', 'set-status', 'a', 'paid')).stdout).toContain(
    'no callback was sent, because the mock has no callback URL',
  );
  await using mock = await startMock(
    ...['--callback-url', `http://127.0.0.1:${port}/`, '--retry-schedule', 'none'],
  );
  await createPayment(mock, 'a');
  const failed = await mock.run('payments', 'set-status', 'a', 'paid');
  expect(failed).toMatchObject({ code: 0 });
  expect(failed.stdout).toMatch(/: failed, ECONNREFUSED, \d+ ms\n/);
  expect(failed.stdout).toContain('was not accepted, and will not be retried');
  await mock.run('fault', 'add', 'callback', 'reorder');
  expect((await mock.run('payments', 'set-status', 'a', 'refunded')).stdout).toContain(
    'a reorder fault holds the callback',
  );
});

test('the beginning of its reference number names a payment, whatever its case', async () => {
  await using mock = await startMock();
  const { referenceNumber } = await createPayment(mock, 'order-1');
  for (const word of [referenceNumber.slice(0, 6), referenceNumber.slice(0, 6).toUpperCase()]) {
    expect(await mock.json('payments', 'set-status', word, 'paid')).toMatchObject({
      referenceNumber,
      status: 'paid',
      state: 'not-configured',
    });
  }
});

test("the merchant's reference names the newest of several payments", async () => {
  await using mock = await startMock();
  await createPayment(mock, 'order-1');
  const { referenceNumber } = await createPayment(mock, 'order-1');
  const { stdout } = await mock.run('payments', 'set-status', 'order-1', 'paid');
  expect(stdout).toContain(`payment ${referenceNumber} (order-1) is paid`);
});

test('a word that names no payment changes nothing', async () => {
  await using mock = await startMock();
  const first = await createPayment(mock, 'order-1');
  // Only the beginning of a reference number counts, and only the whole of the merchant's own.
  for (const word of ['order', first.referenceNumber.slice(1), 'created', '\u001b']) {
    const none = await mock.run('payments', 'set-status', word, 'paid');
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toMatch(/^merchant-payments: the mock has no payment "[^\n]+\n$/);
    expect(none.stderr).not.toContain('\u001b');
  }
  expect(await mock.run('payments', 'set-status', '', 'paid')).toMatchObject({ code: 2 });
  expect(await mock.json('payments', 'list', '--search', 'paid')).toMatchObject({ total: 0 });
});

test('a whole reference number has precedence', async () => {
  await using mock = await startMock();
  const first = await createPayment(mock, 'order-1');
  await createPayment(mock, first.referenceNumber);
  expect(await mock.json('payments', 'set-status', first.referenceNumber, 'paid')).toMatchObject({
    referenceNumber: first.referenceNumber,
  });
});

test('a refusal by the mock is one line, with exit code 1', async () => {
  await using mock = await startMock();
  await createPayment(mock, 'a');
  const { code, stdout, stderr } = await mock.run('payments', 'set-status', 'a', ' ');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^merchant-payments: status must be [^\n]+\n$/);
});
