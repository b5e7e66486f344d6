import { createServer, type ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { createGate } from '../contract/gate.js';
import { deliver, openScene, sign } from '../receiver/adapter-contract/scene.js';

it.each([
  ['answered', (response: ServerResponse) => void response.writeHead(504).end('late'), true],
  [
    'begun to answer',
    (response: ServerResponse) => void response.writeHead(504).write('la'),
    false,
  ],
])('leaves alone a response that another handler has %s', async (_name, answer, ended) => {
  const started = createGate<void>();
  const finish = createGate<void>();
  let first: { handled: Promise<void>; response: ServerResponse } | undefined;
  const scene = await openScene(
    (options) => {
      const handler = callbackHandler(options);
      return createServer((request, response) => {
        const handled = handler(request, response);
        first ??= { handled, response };
      });
    },
    {
      onPayment() {
        started.open();
        return finish.promise;
      },
    },
  );
  const callback = sign();
  const reply = deliver(scene, callback);
  await started.promise;
  if (first) answer(first.response);
  finish.open();
  await first?.handled;
  expect(first?.response.writableEnded).toBe(ended);
  if (!ended) first?.response.end('te');
  expect(await reply).toMatchObject({ status: 504, body: 'late' });
  // The work was done all the same.
  expect(await deliver(scene, callback)).toMatchObject({ status: 200 });
  expect(scene.callbacks).toHaveLength(1);
  expect(scene.reported).toEqual([]);
});

it('settles when the client is gone before the reply', async () => {
  const handled: Promise<void>[] = [];
  const scene = await openScene(
    (options) => {
      const handler = callbackHandler(options);
      return createServer((request, response) => {
        response.on('error', (error) => handled.push(Promise.reject(error)));
        handled.push(handler(request, response));
      });
    },
    {
      async onPayment() {
        const [socket] = scene.connections;
        socket?.destroy();
        await new Promise((resolve) => socket?.on('close', resolve));
      },
    },
  );
  await expect(deliver(scene, sign())).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await Promise.all(handled)).toEqual([undefined]);
  expect(scene.callbacks).toHaveLength(1);
});
