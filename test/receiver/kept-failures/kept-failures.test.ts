import { assert, describe, expect, it } from 'vitest';
import { prepareSecretsAsync } from '../../../src/callback/verify-async.js';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { createReceiver } from '../../../src/receiver/receiver.js';
import { memoryStore } from '../../../src/store/memory.js';
import { now, SECRET } from '../../callback/sample-callback.js';
import { createScene, post } from '../scene.js';
import { itKeepsFailures } from './cases.js';

describe('a receiver with a store in memory', () => {
  itKeepsFailures(() => memoryStore());

  it('replays a parked change of a payment whose reference is blank', async () => {
    let isBroken = true;
    const store = memoryStore();
    const scene = createScene({
      store,
      parkAfter: 1,
      async onPayment() {
        if (isBroken) throw new Error('broken');
      },
    });
    await scene.receive(post({ referenceNumber: ' ' }));
    isBroken = false;
    for await (const change of store.attention()) {
      assert(change.kind === 'failed-change');
      expect(await scene.replay(change)).toMatchObject({ outcome: 'processed' });
    }
    expect(await scene.receive(post({ referenceNumber: ' ' }))).toMatchObject({
      outcome: 'duplicate',
    });
  });
});

describe('a receiver whose verifier is asynchronous', () => {
  it('keeps the body that was verified', async () => {
    const store = memoryStore();
    const request = post();
    const rawBody = Buffer.from(request.rawBody as string);
    const onPayment = () => Promise.reject(new Error('broken'));
    const { receive } = createReceiver(
      { signingSecret: SECRET, store, onPayment, now },
      (secret: string | readonly string[]) => {
        const verify = prepareSecretsAsync(secret);
        return async (signing, body) => {
          const verified = await verify(signing, body);
          rawBody.fill(0x20);
          return verified;
        };
      },
    );
    const { method, headers } = request;
    await receive({ method, headers, readBody: () => [rawBody], getSignal: () => undefined });
    for await (const change of store.attention()) {
      assert(change.kind === 'failed-change');
      expect(Buffer.from(change.rawBody ?? []).toString()).toBe(request.rawBody);
    }
    expect.assertions(1);
  });
});

describe('a receiver whose store keeps no failures', () => {
  const { process } = memoryStore();
  const store = { process };
  const onPayment = () => Promise.reject(new Error('broken'));

  it('answers failures with 500, and can replay nothing', async () => {
    const scene = createScene({ store, onPayment });
    expect(await scene.receive(post())).toMatchObject({ status: 500, outcome: 'failed' });
    await expect(scene.replay({ key: 'k', referenceNumber: 'p' })).rejects.toMatchObject({
      code: 'REPLAY_IMPOSSIBLE',
      message: expect.stringContaining('keeps no failed changes'),
    });
  });

  it('is refused with parkAfter: a parked change would be lost', () => {
    const create = () =>
      createCallbackReceiver({ signingSecret: 's', onPayment, store, parkAfter: 3 });
    expect(create).toThrow(
      expect.objectContaining({
        option: 'parkAfter',
        message: expect.stringContaining('needs a store'),
      }),
    );
  });
});

describe('the options of parking', () => {
  it.each([
    ['parkAfter', { parkAfter: 0 }, 'a whole number of failures from 1; received 0'],
    ['parkAfter', { parkAfter: 1.5 }, 'received 1.5'],
  ])('refuse a wrong %s: %o', (option, options, message) => {
    const create = () =>
      createCallbackReceiver({ signingSecret: 's', onPayment() {}, ...(options as object) });
    expect(create).toThrow(
      expect.objectContaining({ option, message: expect.stringContaining(message) }),
    );
  });

  it.each([undefined, null, {}, { key: 'k' }, { key: 'k', referenceNumber: 7 }])(
    'refuse to replay %o, which is no change',
    async (change) => {
      await expect(createScene().replay(change as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'change',
      });
    },
  );
});
