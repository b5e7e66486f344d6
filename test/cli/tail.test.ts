import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { reserveClosedPort, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { createPayment, readEvents, runCommand, startCommand, startMock } from './run-command.js';

/** A `tail` that is connected. */
async function startTail(url: string, ...args: readonly string[]) {
  const tail = startCommand(['tail', '--mock-url', url, ...args]);
  await tail.printed(/^watching .*\n/, 'stderr');
  return tail;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('prints the lines that the mock itself prints, and ends with it', async () => {
  await using endpoint = await startEndpoint(() => 500);
  await using mock = await startMock('--callback-url', endpoint.url, '--retry-schedule', '1h');
  const tail = await startTail(mock.url);
  const creation = ['--reference', 'a\u001b', '--amount', '5', '--currency', 'EUR'];
  await mock.run('fault', 'add', 'request', 'lost-answer');
  await mock.run('payments', 'create', ...creation);
  await mock.run('payments', 'set-status', 'a\u001b', 'paid');
  await mock.run('fault', 'add', 'callback', 'reorder');
  await mock.run('payments', 'set-status', 'a\u001b', 'refunded');
  await mock.run('clock', 'advance', '1m');
  await tail.printed(/the mock's clock is at/);
  const untimed = ({ output }: { output: { stdout: string } }) =>
    [...output.stdout.matchAll(/^\d\d:\d\d:\d\d {2}((?:request|payment|callback).*)$/gm)].map(
      ([, line]) => line?.replace(/, \d+ ms$/, ''),
    );
  expect(untimed(tail)).toHaveLength(6);
  expect(untimed(tail)).toEqual(untimed(mock));
  expect(tail.output.stdout).toContain(`callbacks go to ${endpoint.url}; the mock's clock is at`);
  await mock[Symbol.asyncDispose]();
  expect(await tail.ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /\nmerchant-payments: (?:the mock at|the connection to) http\S+ /,
    ),
  });
});

test('with --json prints the events', async () => {
  await using mock = await startMock();
  await using tail = await startTail(mock.url, '--json');
  const { referenceNumber } = await createPayment(mock, 'a');
  await mock.run('reset');
  await tail.printed(/"type":"reset"/);
  expect(readEvents(tail)).toMatchObject([
    { type: 'payment', payment: { referenceNumber } },
    { type: 'faults', faults: [] },
    { type: 'reset', state: { counts: { payments: 0 } } },
  ]);
});

test('succeeds when its output is no longer read', async () => {
  await using mock = await startMock();
  const tail = await startTail(mock.url);
  await tail[Symbol.asyncDispose]();
  expect(await tail.ended).toMatchObject({ code: 0 });
});

test('says when there is no mock, or something else', async () => {
  const closed = `http://127.0.0.1:${await reserveClosedPort()}`;
  expect(await runCommand(['tail', '--mock-url', closed])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('start the mock with'),
  });
  const other = await serve((_request, response) => response.end('hello'));
  expect(await runCommand(['tail', '--mock-url', other])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not the mock of merchant-payments (HTTP 200)'),
  });
});

test('an event that arrives in pieces is one event, and invalid JSON ends it', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'x-merchant-payments': 'mock',
    });
    const [first = '', second = ''] = ['event: reset\ndata: {"type":', '"reset","state":{}}\n\n'];
    response.write(first, () =>
      setImmediate(() => response.write(second, () => response.end('data: {\n\n'))),
    );
  });
  const { code, stdout, stderr } = await runCommand(['tail', '--mock-url', url, '--json']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '{"type":"reset","state":{}}\n' });
  expect(stderr).toContain(`the connection to ${url} was lost`);
});
