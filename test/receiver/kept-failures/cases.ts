import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { RetryLaterError, type StoreError } from '../../../src/errors.js';
import type { CallbackReceiverOptions } from '../../../src/receiver/options.js';
import type { FailedChange } from '../../../src/store/attention.js';
import type { ManagedStore } from '../../../src/store/callback-store.js';
import { SECRET, sampleRecord } from '../../callback/sample-callback.js';
import { createGate, createScene, post, postBody } from '../scene.js';

const reply = (status: number, outcome: string) => ({ status, headers: {}, outcome });
const processed = reply(200, 'processed');
const duplicate = reply(200, 'duplicate');
const failed = reply(500, 'failed');
const parked = reply(200, 'failed');

const codes = (reports: readonly { error: unknown }[]) =>
  reports.map(({ error }) => (error as StoreError).code);

async function list(store: ManagedStore<unknown>, referenceNumber: string) {
  const changes: FailedChange[] = [];
  for await (const item of store.attention({ referenceNumber })) {
    if (item.kind === 'failed-change') changes.push(item);
  }
  return changes;
}

/** The only one. */
async function listOne(store: ManagedStore<unknown>, referenceNumber: string) {
  const [change, ...more] = await list(store, referenceNumber);
  if (change === undefined || more.length > 0) throw new Error('not one failed change');
  return change;
}

/** Opens a store; each call is another instance over the same database. */
export type OpenStore = () => ManagedStore<unknown>;

/** What a receiver does with the changes that fail, with any store that keeps them. */
export function itKeepsFailures(openStore: OpenStore): void {
  function createShop(options: Partial<CallbackReceiverOptions<unknown>>) {
    const store = openStore();
    const referenceNumber = randomUUID();
    const ours = { referenceNumber, merchantPaymentReference: `order-${referenceNumber}` };
    const scene = createScene<unknown>({ store, ...options });
    const deliver = (fields: Record<string, unknown> = {}) =>
      scene.receive(post({ ...ours, ...fields }));
    return { scene, store, referenceNumber, ours, deliver };
  }

  it('loses nothing when the handler is broken for longer than the service retries', async () => {
    let isBroken = true;
    let paid = 0;
    const { scene, store, referenceNumber, deliver } = createShop({
      onPayment() {
        if (isBroken) throw new TypeError('order.items is undefined');
        paid += 1;
      },
    });
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await deliver()).toEqual(failed);
    // The service gives up. Staff look at the list.
    const change = await listOne(store, referenceNumber);
    expect(change).toMatchObject({
      referenceNumber,
      attempts: 5,
      parked: false,
      error: { name: 'TypeError', message: 'order.items is undefined' },
    });
    isBroken = false;
    expect(await scene.replay(change)).toEqual(processed);
    expect(paid).toBe(1);
    expect(await list(store, referenceNumber)).toEqual([]);
    expect(await scene.replay(change)).toEqual(failed);
    expect(codes(scene.reports).slice(5)).toEqual(['REPLAY_IMPOSSIBLE']);
    expect(await deliver()).toEqual(duplicate);
    expect(paid).toBe(1);
  });

  it('hands onPayment at a replay the callback that was received, whatever its age', async () => {
    let isBroken = true;
    const { scene, store, referenceNumber, deliver } = createShop({
      onPayment() {
        if (isBroken) throw new Error('broken');
      },
    });
    await deliver({ fee: 1.5, note: 'Größe ✓' });
    isBroken = false;
    const change = await listOne(store, referenceNumber);
    // Another process, years later, with another secret.
    const later = createScene<unknown>({ store, signingSecret: 'whsec_new', now: () => 4e12 });
    expect(await later.replay({ key: change.key, referenceNumber })).toEqual(processed);
    const [received] = scene.handled;
    expect(later.handled).toEqual([{ ...received, timestamp: change.lastFailedAt }]);
  });

  it('replays without a signing secret, and then keeps no text of an error', async () => {
    const { store, referenceNumber, deliver } = createShop({
      onPayment() {
        throw new Error('the order of Ada Lovelace');
      },
    });
    await deliver();
    const change = await listOne(store, referenceNumber);
    let isBroken = true;
    const later = createScene<unknown>({
      store,
      signingSecret: () => Promise.reject(new Error('the vault is away')),
      onPayment() {
        if (isBroken) throw new Error('the order of Ada Lovelace');
      },
    });
    expect(await later.replay(change)).toEqual(failed);
    const { attempts, error } = await listOne(store, referenceNumber);
    expect({ attempts, error }).toEqual({
      attempts: 2,
      error: { name: '[redacted]', code: '[redacted]', message: '[redacted]' },
    });
    isBroken = false;
    expect(await later.replay(change)).toEqual(processed);
  });

  it('parks a change that has failed parkAfter times: 200, reported, and run by a replay alone', async () => {
    let isBroken = true;
    const { scene, store, referenceNumber, deliver } = createShop({
      parkAfter: 3,
      onPayment() {
        if (isBroken) throw new Error('broken');
      },
    });
    const replies = [await deliver(), await deliver(), await deliver(), await deliver()];
    expect(replies).toEqual([failed, failed, parked, parked]);
    expect(scene.handled).toHaveLength(3);
    expect(codes(scene.reports)).toEqual([undefined, undefined, undefined, 'CHANGE_PARKED']);
    expect(scene.reports[3]).toMatchObject({
      error: {
        message: expect.stringMatching(/failed 3 times.* Fix the cause, then replay/),
      },
      callback: { payment: { referenceNumber } },
    });

    const change = await listOne(store, referenceNumber);
    expect(change).toMatchObject({ attempts: 3, parked: true });
    expect(await scene.replay(change)).toEqual(failed);
    expect(codes(scene.reports).slice(4)).toEqual([undefined]);
    expect(await listOne(store, referenceNumber)).toMatchObject({ attempts: 4, parked: true });
    isBroken = false;
    expect(await scene.replay(change)).toEqual(processed);
    expect(await deliver()).toEqual(duplicate);
    expect(await list(store, referenceNumber)).toEqual([]);
  });

  it('runs a payment’s later changes beside a parked one', async () => {
    const status = (value: string, second: number) => ({
      status: value,
      updatedAt: `2026-01-31T12:00:${10 + second}.000+00:00`,
    });
    let isBroken = true;
    const ran: [string, boolean][] = [];
    const { scene, store, referenceNumber, deliver } = createShop({
      parkAfter: 1,
      onPayment({ payment }, { current }) {
        if (isBroken && payment.status === 'authorised') throw new Error('broken');
        ran.push([payment.status, current]);
      },
    });
    expect(await deliver(status('authorised', 1))).toEqual(parked);
    expect(await deliver(status('paid', 2))).toEqual(processed);
    isBroken = false;
    expect(await scene.replay(await listOne(store, referenceNumber))).toEqual(processed);
    expect(ran).toEqual([
      ['paid', true],
      ['authorised', false],
    ]);
  });

  it('runs a change once when it is replayed twice, and delivered, at once', async () => {
    const gate = createGate();
    let runs = 0;
    let isBroken = true;
    const { scene, store, referenceNumber, deliver } = createShop({
      async onPayment() {
        if (isBroken) throw new Error('broken');
        runs += 1;
        await gate.opened;
      },
    });
    await deliver();
    isBroken = false;
    const change = await listOne(store, referenceNumber);
    const other = createScene<unknown>({
      store,
      onPayment() {
        runs += 1;
      },
    });
    const first = scene.replay(change);
    const others = [other.replay(change), other.replay(change), deliver()];
    gate.open();
    const outcomes = (await Promise.all([first, ...others])).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(1);
    expect(outcomes.every((outcome) => /processed|duplicate|busy|failed/.test(outcome))).toBe(true);
    // It was no longer kept when another replay looked for it.
    const tooLate = outcomes.filter((outcome) => outcome === 'failed');
    expect(codes(other.reports)).toEqual(tooLate.map(() => 'REPLAY_IMPOSSIBLE'));
    expect(runs).toBe(1);
    expect(await other.replay(change)).toEqual(failed);
    expect(await deliver()).toEqual(duplicate);
  });

  it('refuses to replay a change without a body, or one that is no longer kept', async () => {
    let runs = 0;
    const { scene, store, referenceNumber, deliver } = createShop({
      parkAfter: 1,
      onPayment() {
        runs += 1;
        throw new Error('broken');
      },
    });
    await deliver();
    const kept = await listOne(store, referenceNumber);
    await store.prune(new Date(kept.lastFailedAt.getTime() + 1));
    const change = await listOne(store, referenceNumber);
    expect(change).not.toHaveProperty('rawBody');
    expect(await scene.replay(change)).toEqual(failed);
    // The caller's own body is not run: it was not verified.
    expect(await scene.replay(kept)).toEqual(failed);
    await store.discard(change);
    expect(await scene.replay(kept)).toEqual(failed);
    // None has left a failure.
    expect(await list(store, referenceNumber)).toEqual([]);
    expect(runs).toBe(1);
    expect(scene.reports.map(({ error }) => error)).toMatchObject([
      { message: 'broken' },
      { code: 'CHANGE_PARKED' },
      { code: 'REPLAY_IMPOSSIBLE', message: expect.stringContaining('repair its order by hand') },
      { code: 'REPLAY_IMPOSSIBLE' },
      { code: 'REPLAY_IMPOSSIBLE', message: expect.stringContaining('discarded') },
    ]);
  });

  it.each(['a Buffer', 'an ArrayBuffer'])(
    'replays the body that was verified, though the server reuses %s of its body',
    async (kind) => {
      let isBroken = true;
      const readBuffer = new Uint8Array(new ArrayBuffer(500)).fill(0x20);
      const receiveNext = (body: string) => readBuffer.set(new TextEncoder().encode(body));
      const { scene, store, referenceNumber, ours } = createShop({
        onPayment({ payment }) {
          if (!isBroken) return;
          receiveNext(JSON.stringify(sampleRecord({ referenceNumber: randomUUID() })));
          throw new Error(JSON.stringify(payment));
        },
      });
      receiveNext(JSON.stringify(sampleRecord(ours)));
      const rawBody = kind === 'a Buffer' ? Buffer.from(readBuffer.buffer) : readBuffer.buffer;
      expect(await scene.receive({ ...postBody(readBuffer), rawBody })).toEqual(failed);
      isBroken = false;
      const change = await listOne(store, referenceNumber);
      // What an error repeats of the body is withheld by the verified one too.
      expect(change.error.message).toBe('[withheld: repeats the request]');
      expect(await scene.replay(change)).toEqual(processed);
      expect(scene.handled.map(({ payment }) => payment)).toEqual([
        sampleRecord(ours),
        sampleRecord(ours),
      ]);
    },
  );

  it('does not count what asks the service to retry later', async () => {
    const { store, referenceNumber, deliver } = createShop({
      parkAfter: 1,
      onPayment: () => Promise.reject(new RetryLaterError()),
    });
    expect(await deliver()).toMatchObject({ status: 503, outcome: 'busy' });
    expect(await list(store, referenceNumber)).toEqual([]);
  });

  it.each([
    ['', 'a [redacted] b [redacted] c  [31m  d'],
    [', whose message has a part of the body', '[withheld: repeats the request]'],
  ])('keeps no signing secret and no control character with the error%s', async (quotes, kept) => {
    const secrets = [SECRET, new TextEncoder().encode('whsec_in_bytes_0123456789')];
    const encoded = Buffer.from(secrets[1] as Uint8Array).toString('base64');
    const { store, referenceNumber, deliver } = createShop({
      signingSecret: async () => secrets as string[],
      onPayment({ payment }) {
        const body = quotes === '' ? '' : JSON.stringify(payment);
        throw Object.assign(new Error(`a ${SECRET} b ${encoded} c ${body}\u001b[31m\u0000 d`), {
          name: `Of${SECRET}`,
          code: SECRET,
        });
      },
    });
    await deliver();
    const { error } = await listOne(store, referenceNumber);
    expect(error).toEqual({ name: 'Of[redacted]', code: '[redacted]', message: kept });
  });

  it('keeps a failure that ends after its time limit, but not a success', async () => {
    let fails = true;
    const { scene, store, referenceNumber, deliver } = createShop({
      onPaymentTimeoutMs: 20,
      parkAfter: 1,
      onPayment: (_callback, { signal }) =>
        new Promise<void>((resolve, reject) => {
          signal.addEventListener('abort', () => (fails ? reject(signal.reason) : resolve()));
        }),
    });
    expect(await deliver()).toEqual(failed);
    await scene.idle();
    expect(await listOne(store, referenceNumber)).toMatchObject({
      attempts: 1,
      parked: true,
      error: { code: 'WORK_TIMEOUT' },
    });
    expect(codes(scene.reports)).toEqual(['WORK_TIMEOUT', 'CHANGE_PARKED']);
    fails = false;
    const other = { status: 'settled', updatedAt: '2026-01-31T12:10:00.000+00:00' };
    expect(await deliver(other)).toEqual(failed);
    await scene.idle();
    expect(await list(store, referenceNumber)).toHaveLength(1);
    expect(await deliver(other)).toEqual(duplicate);
  });
}
