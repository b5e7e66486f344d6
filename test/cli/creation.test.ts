import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { serve } from './merchant-server.js';
import { runCommand, startMock } from './run-command.js';

const createArgs = [
  ...['payments', 'create', '--reference', 'order-1', '--amount', '12.50', '--currency', 'EUR'],
];

/** Creates a payment at a mock that answers so. */
async function createWith(answer: RequestListener, ...args: readonly string[]) {
  await using mock = await serve(answer);
  return await runCommand([...createArgs, '--mock-url', new URL(mock.url).origin, ...args]);
}

describe('a 2xx that is not a payment fails: ', () => {
  test.each<[string, number, Record<string, string>, string]>([
    ['markup', 200, { 'content-type': 'text/plain; charset=utf-8' }, '<h1>ok</h1>'],
    ['broken JSON', 201, { 'content-type': 'application/json' }, '{"a":'],
    ['no referenceNumber', 202, { 'content-type': 'application/json' }, '{"id":7}'],
    [
      'an empty referenceNumber',
      200,
      { 'content-type': 'application/json' },
      '{"referenceNumber":""}',
    ],
  ])('%s', async (_what, status, headers, body) => {
    for (const args of [[], ['--json']]) {
      const ended = await createWith(
        (request, response) => {
          request.resume().on('end', () => response.writeHead(status, headers).end(body));
        },
        ...args,
      );
      expect(ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `merchant-payments: the answer ${status} is not a payment, but one may exist\n`,
      });
    }
  });
});

test('a page in place of an answer fails, and one may exist', async () => {
  await using mock = await startMock();
  await mock.run('fault', 'add', 'request', 'html-error', '--set', 'status=200');
  const ended = await mock.run(...createArgs);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/^merchant-payments: RESPONSE_UNUSABLE: .* but with a page of HTML/);
});

test('an answer that names its reference number is a payment, whatever else it has', async () => {
  const body = '{"referenceNumber":"7","status":"new\\u001b","more":[1]}';
  const answer: RequestListener = (request, response) => {
    request.resume().on('end', () => response.writeHead(200).end(body));
  };
  const text = await createWith(answer);
  expect(text).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^the payment was created\n/),
  });
  expect(text.stdout).toContain('  referenceNumber           7\n');
  expect(text.stdout).toContain('  status                    new\\x1b\n');
  expect(text.stderr).toBe('');
  expect((await createWith(answer, '--json')).stdout).toBe(`${body}\n`);
});
