import { expect, test } from 'vitest';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { createPayment, type RunningMock, runCommand, startMock } from './run-command.js';

interface Delivery {
  readonly id: string;
  readonly referenceNumber: string;
  readonly attempts: readonly { readonly id: string }[];
}

async function createPaid(mock: RunningMock, reference: string): Promise<Delivery> {
  await createPayment(mock, reference);
  return (await mock.json('payments', 'set-status', reference, 'paid')) as Delivery;
}

test('attempts are listed with what a developer looks for', async () => {
  await using endpoint = await startEndpoint((count) => (count === 1 ? 503 : 200));
  await using mock = await startMock('--callback-url', endpoint.url, '--retry-schedule', '1h');
  expect(await mock.run('deliveries', 'list')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'nothing found\n',
  });
  await mock.run('fault', 'add', 'callback', 'tampered-body');
  const { referenceNumber, attempts } = await createPaid(mock, 'order-1');
  const { stdout, stderr } = await mock.run('deliveries', 'list');
  expect(stderr).toBe('');
  const [head, line] = stdout.split('\n');
  expect(head).toMatch(
    /^merchantPaymentReference +time +status +try +answer +ms +fault +retry at$/,
  );
  expect(line).toMatch(/^order-1 +[\d:]{8} +paid +1 +503 +\d+ +tampered-body +\S+$/);
  const wide = await mock.run('deliveries', 'list', '--wide', '--outcome', 'refused');
  expect(wide.stdout).toContain(` ${referenceNumber}  ${attempts[0]?.id}\n`);
  expect((await mock.run('deliveries', 'list', '--outcome', 'failed')).stdout).toBe('');
});

test('attempts are those of one payment, and limited', async () => {
  await using endpoint = await startEndpoint();
  await using mock = await startMock('--callback-url', endpoint.url);
  const first = await createPaid(mock, 'order-1');
  const second = await createPaid(mock, 'order-2');
  expect(await mock.json('deliveries', 'list', '--payment', 'order-1')).toMatchObject({
    total: 1,
    attempts: [{ id: first.attempts[0]?.id }],
  });
  const { stdout, stderr } = await mock.run('deliveries', 'list', '--limit', '1', '--wide');
  expect(stdout).toContain(second.referenceNumber);
  expect(stdout).not.toContain(first.referenceNumber);
  expect(stderr).toBe('1 of 2 shown\n');
  await createPayment(mock, 'order-3');
  expect(await mock.run('deliveries', 'list', '--payment', 'order-3')).toMatchObject({
    code: 0,
    stderr: 'nothing found\n',
  });
  expect(await mock.run('deliveries', 'list', '--payment', 'nobody')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('there is no payment "nobody"'),
  });
});

test('a callback is sent again by its delivery, by its attempt, or by the payment', async () => {
  await using endpoint = await startEndpoint();
  await using mock = await startMock('--callback-url', endpoint.url);
  const { id, referenceNumber, attempts } = await createPaid(mock, 'order-1');
  await mock.json('payments', 'set-status', 'order-1', 'refunded');
  const resend = (word: string) => mock.json('deliveries', 'resend', word);
  const attempt = attempts[0]?.id ?? '';
  for (const word of [id, attempt]) {
    expect(await resend(word)).toMatchObject({ referenceNumber, status: 'paid' });
  }
  for (const word of [referenceNumber, 'order-1']) {
    expect(await resend(word)).toMatchObject({ referenceNumber, status: 'refunded' });
  }
  expect(endpoint.received).toHaveLength(6);
});

test('the clock moves ahead, and every retry that fell due is answered', async () => {
  await using endpoint = await startEndpoint((count) => (count <= 2 ? 500 : 200));
  await using mock = await startMock('--callback-url', endpoint.url, '--retry-schedule', '10m,1h');
  await createPaid(mock, 'order-1');
  const { code, stdout } = await mock.run('clock', 'advance', '2h');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^the mock's clock moved ahead by 2h, to [-\d: ]+\n$/);
  expect(endpoint.received).toHaveLength(3);
  const first = (await mock.json('clock', 'advance', '1d')) as { now: string };
  const second = (await mock.json('clock', 'advance', '1d')) as { now: string };
  expect(Date.parse(second.now) - Date.parse(first.now)).toBeGreaterThanOrEqual(86_400_000);
});

test.each(['1', '', '1w', '-1h', '1h 2m'])('the clock is not advanced by %j', async (text) => {
  const { code, stdout } = await runCommand(['clock', 'advance', '--', text]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
