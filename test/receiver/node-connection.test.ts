import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { signalWhenGone } from '../../src/receiver/node-request.js';

/** The response of a request whose client then leaves. */
async function respond(): Promise<{ response: ServerResponse; leave(): void }> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const [, response] = await once(server, 'request');
  return { response, leave: () => void client.destroy() };
}

it('a client that leaves aborts the signal with a reason that says so', async () => {
  const { response, leave } = await respond();
  const signal = signalWhenGone(response);
  leave();
  await once(signal, 'abort');
  expect(signal.reason).toMatchObject({
    name: 'AbortError',
    message: 'The client closed the connection',
  });
});

it('a client that has already left has aborted it', async () => {
  const { response, leave } = await respond();
  leave();
  await once(response, 'close');
  expect(signalWhenGone(response).aborted).toBe(true);
});

it('a completed reply does not', async () => {
  const { response, leave } = await respond();
  const signal = signalWhenGone(response);
  response.end('{}');
  await once(response, 'close');
  leave();
  expect(signal.aborted).toBe(false);
});
