import { expect, test } from 'vitest';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { createPayment, runCommand, startMock } from './run-command.js';

const creation = ['payments', 'create', '--reference', 'order-1', '--amount', '12.50'];
const createArgs = [...creation, '--currency', 'EUR'];

test('a payment is created in the mock, with its additional fields', async () => {
  await using mock = await startMock();
  const fields = ['--field', 'customer={"id":7}', '--field', 'note=a=b', '--field', 'vip=true'];
  const { code, stdout, stderr } = await mock.run(...createArgs, ...fields);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^the payment was created\n {2}merchantPaymentReference +order-1\n {2}amount +12\.5 EUR\n {2}referenceNumber +[-\da-f]{36}\n {2}status +pending\n$/,
  );
  expect(await mock.json('payments', 'list')).toMatchObject({
    total: 1,
    payments: [{ amount: 12.5, extra: { customer: { id: 7 }, note: 'a=b', vip: true } }],
  });
});

test('--mock-url wins over the environment, and may be the address of the dashboard', async () => {
  await using mock = await startMock();
  const { code } = await runCommand([...createArgs, '--mock-url', `${mock.url}/_mock/`], {
    MERCHANT_PAYMENTS_MOCK_URL: 'http://127.0.0.1:9',
    MERCHANT_PAYMENTS_BASE_URL: 'http://127.0.0.1:9',
  });
  expect(code).toBe(0);
  expect(await mock.json('payments', 'list')).toMatchObject({ total: 1 });
});

test.each([
  [
    'lost-answer',
    'CONNECTION_FAILED',
    'The service may have processed the request: do not send it again',
  ],
  ['reset-in-body', 'RESPONSE_UNUSABLE', 'The service accepted the request: do not send it again'],
  ['unauthorized', 'INVALID_CREDENTIALS', 'The service did not accept the request'],
  ['server-error', '', 'The service may have processed the request'],
])('after %s it says in words whether the payment may exist', async (fault, errorCode, words) => {
  await using mock = await startMock();
  await mock.run('fault', 'add', 'request', fault);
  const { code, stdout, stderr } = await mock.run(...createArgs);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const [message] = stderr.split('\n');
  expect(message).toContain(`merchant-payments: ${errorCode}`);
  expect(message).toContain(words);
  expect(message).not.toContain('..');
  expect(stderr.split('\n')).toHaveLength(2);
  // It was tried once.
  expect(await mock.json('requests', 'list')).toMatchObject({ total: 1 });
});

test.each([
  [['--amount', '1', '--currency', 'EUR'], '--reference is missing'],
  [['--reference', ' ', '--amount', '1', '--currency', 'EUR'], 'merchantPaymentReference must'],
  [['--reference', 'a', '--amount', '1e3', '--currency', 'EUR'], '--amount must be a decimal'],
  [['--reference', 'a', '--amount', '1', '--currency', 'eur'], 'currency must be three capital'],
  [['--field', 'amount=2'], 'amount'],
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
    stderr: 'nothing found\n',
  });
  const first = await createPayment(mock, 'order-1');
  await createPayment(mock, 'other-2');
  const { stdout } = await mock.run('payments', 'list');
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^merchantPaymentReference +created +amount +status$/);
  expect(lines).toEqual([
    expect.stringMatching(/^other-2 +\d\d:\d\d:\d\d +5 EUR +pending$/),
    expect.stringMatching(/^order-1 +\d\d:\d\d:\d\d +5 EUR +pending$/),
  ]);
  const wide = await mock.run('payments', 'list', '--wide');
  expect(wide.stdout).toMatch(new RegExp(`^order-1 .* ${first.referenceNumber}$`, 'm'));
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
    new RegExp(`^${referenceNumber} is paid\n← 200 order-1 paid, try 1\n$`),
  );
  const refused = await mock.run('payments', 'set-status', 'order-1', 'refunded');
  expect(refused.code).toBe(0);
  expect(refused.stdout).toMatch(
    /\n← 500 order-1 refunded, try 1, retry in 1s: no\\x1b\[31m way\n$/,
  );
});

test("the merchant's reference names a payment if no other has the same", async () => {
  await using mock = await startMock();
  const { referenceNumber } = await createPayment(mock, 'order-1');
  expect(await mock.json('payments', 'set-status', 'order-1', 'paid')).toMatchObject({
    referenceNumber,
    status: 'paid',
    state: 'not-configured',
  });
  await createPayment(mock, 'order-1');
  const ended = await mock.run('payments', 'set-status', 'order-1', 'refunded');
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain(`pass the referenceNumber of one: ${referenceNumber}, `);
});

test('a word that names no payment changes nothing', async () => {
  await using mock = await startMock();
  const first = await createPayment(mock, 'order-1');
  for (const word of ['order', first.referenceNumber.slice(1), 'pending', '\u001b']) {
    const none = await mock.run('payments', 'set-status', word, 'paid');
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toMatch(/^merchant-payments: There is no payment "[^\n]+\n$/);
    expect(none.stderr).not.toContain('\u001b');
  }
  expect(await mock.run('payments', 'set-status', '', 'paid')).toMatchObject({ code: 2 });
  expect(await mock.json('payments', 'list', '--search', 'paid')).toMatchObject({ total: 0 });
});

test('a second payment of an order has a note, and each payment the answer to its last callback', async () => {
  await using endpoint = await startEndpoint((count) => (count === 1 ? 200 : 503));
  await using mock = await startMock('--callback-url', endpoint.url, '--retry-schedule', '1h');
  const first = await createPayment(mock, 'order-1');
  const second = await createPayment(mock, 'order-1');
  await mock.run('payments', 'set-status', first.referenceNumber, 'paid');
  await mock.run('payments', 'set-status', second.referenceNumber, 'paid');
  const { stdout } = await mock.run('payments', 'list');
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^merchantPaymentReference .* status +callback +note$/),
    expect.stringMatching(/^order-1 .* paid +503 +second payment$/),
    expect.stringMatching(/^order-1 .* paid +200 +-$/),
  ]);
  // The newest of one change, which the list of callbacks has first.
  await mock.run('deliveries', 'resend', first.referenceNumber);
  const again = await mock.run('payments', 'list');
  expect(again.stdout.trimEnd().split('\n').at(-1)).toMatch(/^order-1 .* paid +503 +-$/);
  const shown = await mock.run('payments', 'show', first.referenceNumber);
  expect(shown.stdout).toContain(`another payment of this order: ${second.referenceNumber}, paid`);
});
