import { randomUUID } from 'node:crypto';
import { assert, expect } from 'vitest';
import type { CallbackReceiverOptions } from '../../../src/receiver/options.js';
import type { FailedChange } from '../../../src/store/attention.js';
import type { StatusChange } from '../../../src/store/callback-store.js';
import { sampleRecord } from '../../callback/sample-callback.js';
import { createScene, postBody } from '../../receiver/scene.js';
import type { It } from './callback-stage.js';
import { createPayment } from './changes.js';
import { collect, type Stage } from './stage.js';

/** Returns the failed changes of a payment, as another process lists them. */
async function keptOf(stage: Stage, referenceNumber: string): Promise<FailedChange[]> {
  const items = await collect((await stage.openManaged()).attention({ referenceNumber }));
  return items.filter((item) => item.kind === 'failed-change');
}

/** Returns the only one. */
async function onlyKeptOf(stage: Stage, referenceNumber: string): Promise<FailedChange> {
  const [change, ...more] = await keptOf(stage, referenceNumber);
  assert(change !== undefined);
  expect(more).toStrictEqual([]);
  return change;
}

async function prune(stage: Stage, olderThan: Date): Promise<number> {
  return (await stage.openManaged()).prune(olderThan);
}

/** Removes the body of a change: it failed before, by a millisecond. */
async function pruneBodyOf(stage: Stage, { lastFailedAt }: FailedChange): Promise<void> {
  await prune(stage, new Date(lastFailedAt.getTime() + 1));
}

/** A receiver whose `onPayment` fails until it is mended, and a change that it is sent. */
async function createShop(stage: Stage, options: Partial<CallbackReceiverOptions<unknown>> = {}) {
  let isBroken = true;
  const scene = createScene<unknown>({
    store: await stage.openManaged(),
    ...options,
    onPayment() {
      if (isBroken) throw new Error('out of stock');
    },
  });
  const referenceNumber = randomUUID();
  const record = sampleRecord({ referenceNumber, merchantPaymentReference: randomUUID() });
  // Not as JSON.stringify would write it again.
  const body = `${JSON.stringify(record, null, 2)} \r\n`;
  return {
    scene,
    referenceNumber,
    body,
    deliver: async () => (await scene.receive(postBody(body))).outcome,
    replay: async (change: FailedChange) => (await scene.replay(change)).outcome,
    mend() {
      isBroken = false;
    },
  };
}

function expectBody({ rawBody }: FailedChange, body: string): void {
  assert(rawBody instanceof Uint8Array);
  expect(Buffer.from(rawBody).toString()).toBe(body);
}

/** The bodies of changes whose work failed are kept. */
export function testKeptBodies(it: It<Stage>): void {
  it('keeps the last body of a failed change as received, and reads no body without a failure', async (stage) => {
    let asked = 0;
    const rawBody = Uint8Array.from({ length: 256 }, (_, index) => index);
    const getRawBody = () => {
      asked += 1;
      return rawBody;
    };
    const event = createPayment()({ failures: { getRawBody } });
    await stage.deliver(await stage.open(), event).answers('processed');
    expect(asked).toBe(0);
    const failing = createPayment()({ failures: { getRawBody } });
    const fail = async (change: StatusChange) =>
      stage.deliverFailing(await stage.open(), change).rejects();
    await fail(failing);
    await fail({ ...failing, failures: undefined });
    const kept = (await onlyKeptOf(stage, failing.payment.referenceNumber)).rawBody;
    assert(kept instanceof Uint8Array);
    expect([...kept]).toStrictEqual([...rawBody]);
  });
  it('keeps the body that a receiver has received until its change is processed', async (stage) => {
    const { scene, referenceNumber, body, deliver, replay, mend } = await createShop(stage);
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      expect(await deliver()).toBe('failed');
      expectBody(await onlyKeptOf(stage, referenceNumber), body);
    }
    const change = await onlyKeptOf(stage, referenceNumber);
    expect(await replay(change)).toBe('failed');
    expectBody(await onlyKeptOf(stage, referenceNumber), body);
    mend();
    expect(await replay(change)).toBe('processed');
    expect(await keptOf(stage, referenceNumber)).toStrictEqual([]);
    expect(await replay(change)).toBe('failed');
    expect(scene.reports.at(-1)).toMatchObject({ error: { code: 'REPLAY_IMPOSSIBLE' } });
    expect(await deliver()).toBe('duplicate');
  });
  it('forgets the body of a change that is discarded', async (stage) => {
    const change = createPayment();
    const event = change({ failures: { getRawBody: () => Uint8Array.of(1) } });
    const { referenceNumber } = event.payment;
    await stage.deliverFailing(await stage.open(), event).rejects();
    const kept = await onlyKeptOf(stage, referenceNumber);
    expect(kept).toHaveProperty('rawBody');
    await (await stage.openManaged()).discard(kept);
    expect(await keptOf(stage, referenceNumber)).toStrictEqual([]);
    await stage.deliverFailing(await stage.open(), { ...event, failures: undefined }).rejects();
    expect(await onlyKeptOf(stage, referenceNumber)).not.toHaveProperty('rawBody');
  });
}

/** Pruning removes old bodies, and keeps the failed changes. */
export function testPrunedBodies(it: It<Stage>): void {
  it('removes the body of an older failed change, and lists it until it is discarded', async (stage) => {
    for (const parkAfter of [undefined, 1]) {
      const shop = await createShop(stage, { parkAfter });
      const { scene, referenceNumber, deliver, replay, mend } = shop;
      expect(await deliver()).toBe('failed');
      const before = await onlyKeptOf(stage, referenceNumber);
      await pruneBodyOf(stage, before);
      const { rawBody, listedAt: _, ...rest } = before;
      expect(rawBody).toBeDefined();
      const change = await onlyKeptOf(stage, referenceNumber);
      expect(change).toStrictEqual({ ...rest, listedAt: change.listedAt });
      expect(change.parked).toBe(parkAfter === 1);
      mend();
      expect(await replay(change)).toBe('failed');
      expect(scene.reports.at(-1)).toMatchObject({
        error: {
          code: 'REPLAY_IMPOSSIBLE',
          message: expect.stringMatching(/prune\(\) has removed.*order by hand, then discard/),
        },
      });
      // The refused replay has changed nothing.
      const { listedAt: __, ...after } = await onlyKeptOf(stage, referenceNumber);
      expect(after).toStrictEqual(rest);
      await (await stage.openManaged()).discard(change);
      expect(await keptOf(stage, referenceNumber)).toStrictEqual([]);
    }
  });
  it('deletes no failed change, and counts none', async (stage) => {
    const inADay = new Date(Date.now() + 86_400_000);
    await prune(stage, inADay);
    const { referenceNumber, deliver } = await createShop(stage);
    await deliver();
    expect(await prune(stage, inADay)).toBe(0);
    await onlyKeptOf(stage, referenceNumber);
  });
  it('keeps the body of a failed change that is not older, which can be replayed', async (stage) => {
    const { referenceNumber, body, deliver, replay, mend } = await createShop(stage);
    await deliver();
    const change = await onlyKeptOf(stage, referenceNumber);
    await prune(stage, change.lastFailedAt);
    expectBody(await onlyKeptOf(stage, referenceNumber), body);
    mend();
    expect(await replay(change)).toBe('processed');
    expect(await keptOf(stage, referenceNumber)).toStrictEqual([]);
  });
  it('keeps the body again of a change that fails once more after its body was removed', async (stage) => {
    const { referenceNumber, body, deliver, replay, mend } = await createShop(stage);
    await deliver();
    await pruneBodyOf(stage, await onlyKeptOf(stage, referenceNumber));
    expect(await deliver()).toBe('failed');
    const change = await onlyKeptOf(stage, referenceNumber);
    expect(change.attempts).toBe(2);
    expectBody(change, body);
    mend();
    expect(await replay(change)).toBe('processed');
  });
}
