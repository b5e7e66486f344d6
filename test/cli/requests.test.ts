import { expect, test } from 'vitest';
import { startMock } from './run-command.js';

const creation = ['--amount', '5', '--currency', 'EUR'];

test('requests are listed newest first, with how they ended', async () => {
  await using mock = await startMock();
  expect(await mock.run('requests', 'list')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'nothing found\n',
  });
  await mock.run('payments', 'create', '--reference', 'order-1', ...creation);
  await mock.run('fault', 'add', 'request', 'lost-answer');
  await mock.run('payments', 'create', '--reference', 'order-2', ...creation);
  await fetch(`${mock.url}/elsewhere`);
  const { stdout } = await mock.run('requests', 'list');
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^merchantPaymentReference +time +request +amount +answer +reason +fault$/);
  expect(lines).toEqual([
    expect.stringMatching(
      /^- +\d\d:\d\d:\d\d +GET \/elsewhere +- +401 +INVALID_CREDENTIALS: Invalid credentials\. +-$/,
    ),
    expect.stringMatching(/^order-2 +\S+ +POST \/api\/payments +5 EUR +lost +- +lost-answer$/),
    expect.stringMatching(/^order-1 +\S+ +POST \/api\/payments +5 EUR +201 +- +-$/),
  ]);
  const wide = await mock.run('requests', 'list', '--wide', '--search', 'order-1');
  expect(wide.stdout).toMatch(/ requestId +referenceNumber\n.* [-\da-f]{36} +[-\da-f]{36}\n$/);
  const lost = await mock.run('requests', 'list', '--outcome', 'lost');
  expect(lost.stdout.match(/order-\d/g)).toEqual(['order-2']);
  expect((await mock.run('requests', 'list', '--limit', '1')).stderr).toBe('1 of 3 shown\n');
});

test('a payment is shown with its fields, statuses and callbacks', async () => {
  await using mock = await startMock();
  const field = ['--field', 'customer={"id":7}'];
  await mock.run('payments', 'create', '--reference', 'order-1', ...creation, ...field);
  await mock.run('payments', 'set-status', 'order-1', 'paid');
  const { code, stdout } = await mock.run('payments', 'show', 'order-1');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^order-1 is paid\n {2}amount +5 EUR\n {2}referenceNumber +[-\da-f]{36}\n/,
  );
  expect(stdout).toMatch(/\n {2}customer +{"id":7}\n/);
  // Its request first, then each status, by one form of time.
  expect(stdout.split('\n').slice(5)).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d {2}→ POST \/api\/payments 201 order-1 5 EUR$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d {2}· pending$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d {2}· paid$/),
    '',
  ]);
  expect(await mock.json('payments', 'show', 'order-1')).toMatchObject({
    payment: { status: 'paid' },
    deliveries: [{ state: 'not-configured' }],
  });
  expect(await mock.run('payments', 'show', 'order-2')).toMatchObject({ code: 1, stdout: '' });
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
    payment: { status: 'pending' },
  });
  await mock.run('clock', 'advance', '1m');
  expect(await mock.json('payments', 'show', 'a')).toMatchObject({ payment: { status: 'paid' } });
});
