import { createServer, type RequestListener } from 'node:http';
import { expect, it, vi } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { openRawClient, writeHead } from '../receiver/adapter-contract/raw-client.js';
import { openScene, type Scene, sign } from '../receiver/adapter-contract/scene.js';

const openServer = (around: (handle: RequestListener) => RequestListener = (handle) => handle) =>
  openScene((options) => createServer(around(callbackHandler(options))));

/** Head and body in one packet. */
function onePacket({ rawBody, headers } = sign()): Buffer {
  return Buffer.concat([Buffer.from(writeHead(headers, rawBody.length)), rawBody]);
}

async function post(scene: Scene, packet: Uint8Array): Promise<number> {
  const client = await openRawClient(scene);
  await client.send(packet);
  return (await client.readAnswer()).status;
}

it.each<[string, Parameters<typeof openServer>[0] & object]>([
  [
    'listens, too',
    (handle) => (request, response) => {
      handle(request, response);
      request.on('data', () => {});
    },
  ],
  [
    'reads it chunk by chunk, too',
    (handle) => (request, response) => {
      handle(request, response);
      request.on('readable', () => void request.read());
    },
  ],
  [
    'reads a part of it meanwhile',
    (handle) => (request, response) => {
      // The rest of the packet is there at once.
      setImmediate(() => {
        handle(request, response);
        request.read(10);
      });
    },
  ],
  [
    'holds up ticks, as the fake timers of Jest do',
    (handle) => (request, response) => {
      const spies = [vi.spyOn(process, 'nextTick'), vi.spyOn(globalThis, 'queueMicrotask')];
      for (const spy of spies) spy.mockImplementation(() => undefined);
      handle(request, response);
      for (const spy of spies) spy.mockRestore();
    },
  ],
])('takes the whole body when something else %s', async (_what, around) => {
  const scene = await openServer(around);
  expect(await post(scene, onePacket())).toBe(200);
});
