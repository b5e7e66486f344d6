import { describe, expect, it } from 'vitest';
import { createCallbackReceiver } from '../../../src/receiver/callback-receiver.js';
import { memoryStore } from '../../../src/store/memory.js';
import { createScene, post } from '../scene.js';
import { itKeepsFailures } from './cases.js';

describe('a receiver with a store in memory', () => {
  itKeepsFailures(() => memoryStore());
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
