import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { createGate } from '../contract/gate.js';
import { deliver, openScene, type Scene, sign } from '../receiver/adapter-contract/scene.js';

// As docs/go-live.md shows it.
it('lets a process wait for the callbacks that it has taken, and for no others', async () => {
  const gate = createGate<void>();
  const ended: string[] = [];
  let handler: ReturnType<typeof callbackHandler> | undefined;
  const scene: Scene = await openScene(
    (options) => {
      handler = callbackHandler(options);
      return createServer(handler);
    },
    {
      onPaymentTimeoutMs: 1,
      async onPayment({ payment }) {
        await gate.promise;
        ended.push(payment.referenceNumber);
      },
    },
  );
  expect(await deliver(scene, sign({ referenceNumber: 'late' }))).toMatchObject({ status: 500 });

  scene.server.close();
  await once(scene.server, 'close');
  const idle = handler?.idle();
  expect(ended).toEqual([]);
  gate.open();
  await idle;
  expect(ended).toEqual(['late']);
});
