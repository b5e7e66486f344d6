import { expect, test } from 'vitest';
import { createPayment, startMock } from './run-command.js';

const creation = ['--amount', '5', '--currency', 'EUR'];

test('requests are listed newest first, with how they ended', async () => {
  await using mock = await startMock();
  expect(await mock.run('requests', 'list')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'no requests received yet\n',
  });
  await mock.run('payments', 'create', '--reference', 'order-1', ...creation);
  await mock.run('fault', 'add', 'request', 'lost-answer');
  await mock.run('payments', 'create', '--reference', 'order-2', ...creation);
  await fetch(`${mock.url}/elsewhere`);
  const { stdout } = await mock.run('requests', 'list');
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^TIME +METHOD +PATH +MERCHANT REFERENCE +HTTP +FAULT +REQUEST ID$/);
  expect(lines).toEqual([
    expect.stringMatching(/ GET +\/elsewhere +- +401 +- /),
    expect.stringMatching(/ POST +\/api\/payments +order-2 +broken +lost-answer /),
    expect.stringMatching(/ POST +\/api\/payments +order-1 +201 +- /),
  ]);
  expect((await mock.run('requests', 'list', '--limit', '1')).stderr).toBe('1 of 3 shown\n');
});

test.each([
  [['server-error'], 1, 'SERVER_ERROR: ', 'It is unknown whether the payment was created'],
  [['client-error'], 1, 'REFUSED: ', 'an earlier one may have created the payment'],
  [
    ['client-error', '--set', 'status=422', '--set', 'body={"code":"LIMIT"}'],
    1,
    'LIMIT: ',
    'so no payment was created',
  ],
  [['rate-limit'], 1, 'RATE_LIMITED: ', 'so no payment was created'],
  [['late-answer', '--set', 'delayMs=5'], 0, '', ''],
  [['malformed-json'], 1, 'but not with a payment', 'check that the address of the mock is right'],
])('payments create meets the fault %j', async (fault, code, beginning, words) => {
  await using mock = await startMock();
  await mock.run('fault', 'add', 'request', ...fault);
  const ended = await mock.run('payments', 'create', '--reference', 'a', ...creation);
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(beginning);
  expect(ended.stderr).toContain(words);
  expect(await mock.json('requests', 'list')).toMatchObject({ total: 1 });
});

test('a payment is shown with its fields, statuses and callbacks', async () => {
  await using mock = await startMock();
  const field = ['--field', 'customer={"id":7}'];
  await mock.run('payments', 'create', '--reference', 'order-1', ...creation, ...field);
  await mock.run('payments', 'set-status', 'order-1', 'paid');
  const { code, stdout } = await mock.run('payments', 'show', 'order-1');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^payment [-0-9a-f]{36}\n {2}merchant reference {2}order-1\n/);
  expect(stdout).toContain('  amount              5 EUR\n  customer            {"id":7}\n');
  expect(stdout).toMatch(/\n\S+\+00:00 {2}created\n\S+\+00:00 {2}paid\ndelivery /);
  expect(stdout).toContain('no callback was sent');
  expect(await mock.json('payments', 'show', 'order-1')).toMatchObject({
    payment: { status: 'paid' },
    deliveries: [{ state: 'not-configured' }],
  });
  expect(await mock.run('payments', 'show', 'order-2')).toMatchObject({ code: 1, stdout: '' });
});

test('a reset says what it removed', async () => {
  await using mock = await startMock();
  await createPayment(mock, 'a');
  await createPayment(mock, 'b');
  await mock.run('fault', 'add', 'request', 'hang');
  expect(await mock.run('reset')).toMatchObject({
    code: 0,
    stdout: 'the mock was reset: 2 payments, 0 requests, 0 attempts, 1 fault removed\n',
  });
  expect(await mock.json('reset')).toMatchObject({ counts: { payments: 0, faults: 0 } });
});

test('a payment of the mock is paid automatically, and its answer has additional fields', async () => {
  await using mock = await startMock(
    ...['--auto', 'paid', '--after', '1h'],
    ...['--answer-field', 'redirectUrl=https://pay.test/{referenceNumber}'],
    ...['--answer-field', 'limits=[1]'],
  );
  const created = await mock.json('payments', 'create', '--reference', 'a', ...creation);
  const { referenceNumber } = created as { referenceNumber: string };
  expect(created).toMatchObject({
    redirectUrl: `https://pay.test/${referenceNumber}`,
    limits: [1],
  });
  await mock.run('clock', 'advance', '59m');
  expect(await mock.json('payments', 'show', 'a')).toMatchObject({
    payment: { status: 'created' },
  });
  await mock.run('clock', 'advance', '1m');
  expect(await mock.json('payments', 'show', 'a')).toMatchObject({ payment: { status: 'paid' } });
});
