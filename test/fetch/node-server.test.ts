import { createServer, type IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/fetch/callback-handler.js';
import { outwait } from '../receiver/adapter-contract/connections.js';
import { openRawClient, writeHead } from '../receiver/adapter-contract/raw-client.js';
import { type MakeServer, openScene, SECRET, sign } from '../receiver/adapter-contract/scene.js';

/** As SvelteKit's adapter for Node does: when the body is cancelled, the connection is gone. */
const makeServer: MakeServer = (options) => {
  const handler = callbackHandler({ ...options, signingSecret: SECRET });
  return createServer(async (incoming, outgoing) => {
    const { status } = await handler(toRequest(incoming));
    outgoing.writeHead(status).end();
  });
};

function toRequest(incoming: IncomingMessage): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      incoming.on('error', (error) => controller.error(error));
      incoming.on('end', () => controller.close());
      incoming.on('data', (chunk) => {
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
      });
    },
    pull: () => void incoming.resume(),
    cancel: () => void incoming.destroy(),
  });
  const headers = incoming.headers as Record<string, string>;
  return new Request('http://127.0.0.1/', { method: 'POST', headers, body, duplex: 'half' });
}

it('sends its 413 although the body is cancelled', async () => {
  const scene = await openScene(makeServer, { maxBodyBytes: 1_000 });
  const client = await openRawClient(scene);
  await client.send(writeHead(sign().headers, 'chunked'));
  client.sendForEver(Buffer.from(`4000\r\n${'x'.repeat(0x4000)}\r\n`));
  expect(await client.readAnswer()).toMatchObject({ status: 413 });
  await client.closed;
  expect(scene.connections[0]?.bytesRead).toBeLessThan(300_000);
});

it('sends its 413 at once for a body that is announced as too large and never comes', async () => {
  const scene = await openScene(makeServer, { maxBodyBytes: 1_000 });
  const client = await openRawClient(scene);
  await client.send(writeHead(sign().headers, 2 ** 40));
  expect(await client.readAnswer()).toMatchObject({ status: 413 });
  await client.closed;
});

it('sends its 408 although the body is cancelled', async () => {
  const scene = await openScene(makeServer);
  const client = await openRawClient(scene);
  await outwait(() => client.send(writeHead(sign().headers, 100)));
  expect(await client.readAnswer()).toMatchObject({ status: 408 });
  await client.closed;
});
