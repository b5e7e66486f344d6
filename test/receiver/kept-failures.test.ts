import { describe, expect, it } from 'vitest';
import type { StoreError } from '../../src/errors.js';
import { createCallbackReceiver } from '../../src/receiver/callback-receiver.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import type { FailedChange } from '../../src/store/attention.js';
import { memoryStore } from '../../src/store/memory.js';
import { SECRET, sampleRecord } from '../callback/sample-callback.js';
import { createScene, post, postBody, type Report } from './scene.js';

// What a receiver does with changes that fail. What each store keeps of them is in the contract of the stores.

const reply = (status: number, outcome: string) => ({ status, headers: {}, outcome });
const processed = reply(200, 'processed');
const failed = reply(500, 'failed');
const parked = reply(200, 'failed');

const codes = (reports: readonly Report[]) =>
  reports.map(({ error }) => (error as StoreError).code);

/** A receiver whose work fails until the shop is mended. */
function openShop(
  options: Partial<CallbackReceiverOptions> = {},
  error: unknown = new Error('broken'),
) {
  const store = memoryStore();
  const shop = { isBroken: true, isSealed: false };
  const scene = createScene({
    store,
    onPayment() {
      if (shop.isBroken) throw error;
    },
    ...options,
  });
  const list = async () => {
    const changes: FailedChange[] = [];
    for await (const item of store.attention()) {
      if (item.kind === 'failed-change') changes.push(item);
    }
    return changes;
  };
  const listOne = async () => {
    const [change, ...more] = await list();
    if (change === undefined || more.length > 0) throw new Error('not one failed change');
    return change;
  };
  const deliver = (fields?: Record<string, unknown>) => scene.receive(post(fields));
  return { shop, scene, store, list, listOne, deliver };
}

describe('a receiver whose store keeps failures', () => {
  it('loses nothing when the handler is broken for longer than the service retries', async () => {
    const { shop, scene, list, listOne, deliver } = openShop({}, new TypeError('no items'));
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await deliver()).toEqual(failed);
    // The service gives up. Staff look at the list.
    const change = await listOne();
    const error = { name: 'TypeError', message: 'no items' };
    expect(change).toMatchObject({ attempts: 5, parked: false, error });
    shop.isBroken = false;
    expect(await scene.replay(change)).toEqual(processed);
    expect(await list()).toEqual([]);
    expect(await scene.replay(change)).toEqual(failed);
    expect(codes(scene.reports).slice(5)).toEqual(['REPLAY_IMPOSSIBLE']);
    expect(await deliver()).toEqual(reply(200, 'duplicate'));
    expect(scene.handled).toHaveLength(6);
  });

  it('hands onPayment at a replay the callback that was received, whatever its age', async () => {
    const { scene, store, listOne, deliver } = openShop();
    await deliver({ fee: 1.5, note: 'Größe ✓' });
    const { key, referenceNumber, lastFailedAt } = await listOne();
    // Another process, years later, with another secret.
    const later = createScene({ store, signingSecret: 'whsec_new', now: () => 4e12 });
    expect(await later.replay({ key, referenceNumber })).toEqual(processed);
    expect(later.handled).toEqual([{ ...scene.handled[0], timestamp: lastFailedAt }]);
  });

  it('replays without a signing secret, and then keeps no text of an error', async () => {
    const { shop, scene, listOne, deliver } = openShop({
      signingSecret: () => (shop.isSealed ? Promise.reject(new Error('sealed')) : SECRET),
    });
    await deliver();
    shop.isSealed = true;
    expect(await scene.replay(await listOne())).toEqual(failed);
    const redacted = { name: '[redacted]', code: '[redacted]', message: '[redacted]' };
    expect(await listOne()).toMatchObject({ attempts: 2, error: redacted });
    shop.isBroken = false;
    expect(await scene.replay(await listOne())).toEqual(processed);
  });

  it('parks a change that has failed parkAfter times: 200, reported, and run by a replay alone', async () => {
    const { shop, scene, list, listOne, deliver } = openShop({ parkAfter: 3 });
    const replies = [await deliver(), await deliver(), await deliver(), await deliver()];
    expect(replies).toEqual([failed, failed, parked, parked]);
    expect(scene.handled).toHaveLength(3);
    expect(codes(scene.reports)).toEqual([undefined, undefined, undefined, 'CHANGE_PARKED']);
    expect(scene.reports[3]).toMatchObject({
      error: { message: expect.stringContaining('failed 3 times') },
      callback: { payment: sampleRecord() },
    });
    expect(await scene.replay(await listOne())).toEqual(failed);
    expect(codes(scene.reports).slice(4)).toEqual([undefined]);
    expect(await listOne()).toMatchObject({ attempts: 4, parked: true });
    shop.isBroken = false;
    expect(await scene.replay(await listOne())).toEqual(processed);
    expect(await list()).toEqual([]);
  });

  it('refuses to replay a change without a body, or one that is no longer kept', async () => {
    const { scene, store, list, listOne, deliver } = openShop({ parkAfter: 1 });
    await deliver();
    const kept = await listOne();
    await store.prune(new Date(kept.lastFailedAt.getTime() + 1));
    const change = await listOne();
    expect(change).not.toHaveProperty('rawBody');
    expect(await scene.replay(change)).toEqual(failed);
    // The caller's own body is not run: it was not verified.
    expect(await scene.replay(kept)).toEqual(failed);
    await store.discard(change);
    expect(await scene.replay(kept)).toEqual(failed);
    // None has left a failure.
    expect(await list()).toEqual([]);
    expect(scene.handled).toHaveLength(1);
    expect(scene.reports.slice(2).map(({ error }) => error)).toMatchObject([
      { code: 'REPLAY_IMPOSSIBLE', message: expect.stringContaining('prune() has removed') },
      { code: 'REPLAY_IMPOSSIBLE' },
      { code: 'REPLAY_IMPOSSIBLE', message: expect.stringContaining('discarded') },
    ]);
  });

  it('replays the body that was verified, though the server reuses its buffer', async () => {
    const buffer = Buffer.alloc(500, ' ');
    buffer.write(JSON.stringify(sampleRecord()));
    const { shop, scene, listOne } = openShop({
      onPayment({ payment }) {
        if (!shop.isBroken) return;
        buffer.write(JSON.stringify(sampleRecord({ referenceNumber: 'of the next callback' })));
        throw new Error(JSON.stringify(payment));
      },
    });
    expect(await scene.receive(postBody(buffer))).toEqual(failed);
    shop.isBroken = false;
    // What an error repeats of the body is withheld by the verified one too.
    expect((await listOne()).error.message).toBe('[withheld: repeats the request]');
    expect(await scene.replay(await listOne())).toEqual(processed);
    const payments = scene.handled.map(({ payment }) => payment);
    expect(payments).toEqual([sampleRecord(), sampleRecord()]);
  });

  it('keeps no signing secret and no control character with the error', async () => {
    const bytes = Buffer.from('whsec_in_bytes_0123456789');
    const message = `a ${SECRET} b ${bytes.toString('base64')} c \u001b[31m\u0000 d`;
    const error = Object.assign(new Error(message), { name: `Of${SECRET}`, code: SECRET });
    const { deliver, listOne } = openShop({ signingSecret: () => [SECRET, bytes] }, error);
    await deliver();
    expect((await listOne()).error).toEqual({
      name: 'Of[redacted]',
      code: '[redacted]',
      message: 'a [redacted] b [redacted] c  [31m  d',
    });
  });

  it('keeps a failure that ends after its time limit, but not a success', async () => {
    const { shop, scene, list, listOne, deliver } = openShop({
      onPaymentTimeoutMs: 20,
      parkAfter: 1,
      onPayment: (_callback, { signal }) =>
        new Promise<void>((resolve, reject) => {
          const end = () => (shop.isBroken ? reject(signal.reason) : resolve());
          signal.addEventListener('abort', end);
        }),
    });
    expect(await deliver()).toEqual(failed);
    await scene.idle();
    const kept = { attempts: 1, parked: true, error: { code: 'WORK_TIMEOUT' } };
    expect(await listOne()).toMatchObject(kept);
    expect(codes(scene.reports)).toEqual(['WORK_TIMEOUT', 'CHANGE_PARKED']);
    shop.isBroken = false;
    const other = { status: 'settled', updatedAt: '2026-01-31T12:10:00.000+00:00' };
    expect(await deliver(other)).toEqual(failed);
    await scene.idle();
    expect(await list()).toHaveLength(1);
    expect(await deliver(other)).toEqual(reply(200, 'duplicate'));
  });

  it.each([undefined, {}, { key: 'k' }, { key: 'k', referenceNumber: 7 }])(
    'refuses to replay %o, which is no change',
    async (change) => {
      const replayed = createScene().replay(change as never);
      await expect(replayed).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'change' });
    },
  );
});

describe('a receiver whose store keeps no failures', () => {
  const { process } = memoryStore();
  const store = { process };

  it('answers failures with 500, and can replay nothing', async () => {
    const { scene, deliver } = openShop({ store });
    expect(await deliver()).toEqual(failed);
    await expect(scene.replay({ key: 'k', referenceNumber: 'p' })).rejects.toMatchObject({
      code: 'REPLAY_IMPOSSIBLE',
      message: expect.stringContaining('keeps no failed changes'),
    });
  });

  it('is refused with parkAfter: a parked change would be lost', () => {
    const options = { signingSecret: 's', onPayment() {}, store, parkAfter: 3 };
    const refusal = { option: 'parkAfter', message: expect.stringContaining('needs a store') };
    expect(() => createCallbackReceiver(options)).toThrow(expect.objectContaining(refusal));
  });
});
