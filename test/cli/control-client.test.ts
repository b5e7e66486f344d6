import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ControlClient, connectToMock } from '../../src/cli/control-client.js';
import { reserveClosedPort } from '../mock-server/merchant-endpoint.js';
import { serve } from './merchant-server.js';

/** A server that answers as a mock, unless it says otherwise. */
async function startServer(listener: RequestListener, mark = 'mock') {
  const server = await serve((request, response) => {
    if (mark !== '') response.setHeader('x-merchant-payments', mark);
    return listener(request, response);
  });
  const url = new URL(server.url).origin;
  return { ...server, url, client: new ControlClient(new URL(url)) };
}

const state = { path: ['state'] };

describe('a call of the control interface', () => {
  test('sends JSON and returns the answer', async () => {
    const seen: unknown[] = [];
    await using server = await startServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method, url, headers } = request;
      seen.push({
        method,
        url,
        type: headers['content-type'],
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(201).end('{"ok":"ü"}');
    });
    expect(
      await server.client.call({
        method: 'POST',
        path: ['payments', 'a/b?', 'status'],
        body: { status: 'paid ü' },
      }),
    ).toEqual({ ok: 'ü' });
    await server.client.call({ method: 'DELETE', path: ['faults'] });
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/_mock/payments/a%2Fb%3F/status',
        type: 'application/json',
        body: '{"status":"paid ü"}',
      },
      { method: 'DELETE', url: '/_mock/faults', type: undefined, body: '' },
    ]);
  });

  test.each([
    ['an HTML page', 404, '<h1>Not found</h1>'],
    ['JSON of another server', 404, '{"error":"not found"}'],
    ['a page that is fine', 200, '<h1>Hello</h1>'],
    ['a redirect, which is not followed', 302, '{}'],
  ])('says that no mock is there when it gets %s', async (_what, status, body) => {
    await using server = await startServer(
      (_request, response) => response.writeHead(status, { location: '/elsewhere' }).end(body),
      '',
    );
    await expect(server.client.call(state)).rejects.toThrow(
      `the server at ${server.url} is not the mock of merchant-payments (HTTP ${status})`,
    );
  });

  test('says how to start a mock when there is no answer', async () => {
    const port = await reserveClosedPort();
    for (const host of ['127.0.0.1', 'localhost']) {
      const client = new ControlClient(new URL(`http://${host}:${port}`));
      await expect(client.call(state)).rejects.toThrow(
        `can't reach the mock at http://${host}:${port}. Start it with \`npx merchant-payments mock\``,
      );
    }
  });

  test.each([
    ['before', (): void => undefined],
    ['within', (response: Parameters<RequestListener>[1]): void => void response.write('{')],
  ])('ends at its deadline %s the answer', async (_when, begin) => {
    await using server = await startServer((_request, response) => begin(response));
    await expect(server.client.call({ ...state, timeoutMs: 100 })).rejects.toThrow(
      `${server.url} did not answer within 100ms`,
    );
  });

  test('names the code of a connection that breaks, even within the answer', async () => {
    await using early = await startServer((request) => request.socket.resetAndDestroy());
    await expect(early.client.call(state)).rejects.toThrow(
      `the connection to ${early.url} failed with ECONNRESET`,
    );
    await using late = await startServer((request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{', () => request.socket.resetAndDestroy());
    });
    await expect(late.client.call(state)).rejects.toThrow(
      /failed with (?:ECONNRESET|UND_ERR_SOCKET)/,
    );
  });
});

describe('the address of the mock', () => {
  const connect = (flag: string | undefined, variable?: string) => () =>
    connectToMock({
      options: { 'mock-url': flag },
      terminal: { env: { MERCHANT_PAYMENTS_MOCK_URL: variable } },
    });

  test('is refused by the name of the flag or variable', () => {
    expect(connect('localhost:4242', 'http://127.0.0.1')).toThrow(
      '--mock-url must begin with http',
    );
    expect(connect(undefined, 'nonsense')).toThrow(
      'MERCHANT_PAYMENTS_MOCK_URL must be an absolute http',
    );
    expect(connect('http://a:hunter2@b')).toThrow('must not hold a user name');
  });
});
