import { describe, expect, it } from 'vitest';
import type { FailedChange } from '../../src/store/failed-changes.js';
import type { CallbackInbox, FailureKeepingInbox, InboxEvent } from '../../src/store/inbox.js';
import { memoryInbox } from '../../src/store/memory-inbox.js';
import { sampleEvent } from './sample-event.js';

const done = async () => {};
const broken = () => Promise.reject(new Error('broken'));

async function fail(inbox: CallbackInbox, event: Partial<InboxEvent>): Promise<void> {
  await expect(inbox.process(sampleEvent(event), broken)).rejects.toThrow('broken');
}

async function list(inbox: FailureKeepingInbox): Promise<FailedChange[]> {
  const changes: FailedChange[] = [];
  for await (const change of inbox.failedChanges()) changes.push(change);
  return changes;
}

const paymentsOf = (changes: FailedChange[]) => changes.map((change) => change.paymentReference);

describe('the failures in a memory inbox', () => {
  it('are forgotten retentionMs after the last failure, the change with them that was parked', async () => {
    let nowMs = 0;
    const inbox = memoryInbox({ retentionMs: 1_000, now: () => nowMs });
    const parked = { paymentReference: 'parked', failures: { parkAfter: 1 } };
    await fail(inbox, parked);
    await fail(inbox, { paymentReference: 'again' });
    nowMs = 1;
    await fail(inbox, { paymentReference: 'again' });

    nowMs = 999;
    await inbox.process(sampleEvent({ key: 'other' }), done);
    expect(await list(inbox)).toMatchObject([
      { paymentReference: 'parked', firstFailedAt: new Date(0), lastFailedAt: new Date(0) },
      { paymentReference: 'again', firstFailedAt: new Date(0), lastFailedAt: new Date(1) },
    ]);
    nowMs = 1_000;
    await inbox.process(sampleEvent({ key: 'one more' }), done);
    expect(paymentsOf(await list(inbox))).toEqual(['again']);
    expect(await inbox.process(sampleEvent(parked), done)).toBe('processed');
  });

  it('are the latest 1,000: the change that failed first is evicted', async () => {
    const inbox = memoryInbox();
    const references = Array.from({ length: 1_001 }, (_, index) => `payment-${index}`);
    for (const paymentReference of references.slice(0, 1_000)) {
      await fail(inbox, { paymentReference });
    }
    // No new change, so none is evicted.
    await fail(inbox, { paymentReference: 'payment-0' });
    expect(paymentsOf(await list(inbox))).toEqual(references.slice(0, 1_000));
    await fail(inbox, { paymentReference: 'payment-1000' });
    expect(paymentsOf(await list(inbox))).toEqual(references.slice(1));
  });

  it('are of one change only, where names of others run together', async () => {
    const inbox = memoryInbox();
    await fail(inbox, { paymentReference: 'a', key: 'b","c' });
    await fail(inbox, { paymentReference: 'a","b', key: 'c' });
    expect(await list(inbox)).toHaveLength(2);
    expect(await inbox.discard({ paymentReference: 'a', key: 'b' })).toBe(false);
  });

  it('say how often a change that is parked at once failed', async () => {
    const inbox = memoryInbox();
    const parkedAt: number[] = [];
    const failures = { parkAfter: 1, onParked: (attempts: number) => parkedAt.push(attempts) };
    await fail(inbox, { failures });
    expect(await list(inbox)).toMatchObject([{ attempts: 1, parked: true }]);
    expect(parkedAt).toEqual([1]);
  });

  it('park a change that has failed before parkAfter was set, at its next failure', async () => {
    const inbox = memoryInbox();
    for (let time = 0; time < 3; time += 1) await fail(inbox, {});
    expect(await list(inbox)).toMatchObject([{ attempts: 3, parked: false }]);
    await fail(inbox, { failures: { parkAfter: 2 } });
    expect(await list(inbox)).toMatchObject([{ attempts: 4, parked: true }]);
  });

  it('have no body unless keepBodies is true', async () => {
    const inbox = memoryInbox();
    await fail(inbox, { failures: { getRawBody: () => Uint8Array.of(1) } });
    const [change] = await list(inbox);
    expect(change).not.toHaveProperty('rawBody');
    expect(inbox.keepsBodies).toBe(false);
  });

  it('have their own copy of the body, which neither its source nor its reader can change', async () => {
    const inbox = memoryInbox({ keepBodies: true });
    // slice() of a Buffer shares its memory.
    const rawBody = Buffer.of(1, 2);
    await fail(inbox, { failures: { getRawBody: () => rawBody } });
    rawBody.fill(0);
    const [first] = await list(inbox);
    expect(first?.rawBody).toEqual(Uint8Array.of(1, 2));
    first?.rawBody?.fill(0);
    if (first !== undefined) first.error.message = 'another';
    expect(await list(inbox)).toMatchObject([
      { rawBody: Uint8Array.of(1, 2), error: { message: 'broken' } },
    ]);
  });

  it('are listed as they are when each is read', async () => {
    const inbox = memoryInbox();
    for (const paymentReference of ['a', 'b', 'c']) await fail(inbox, { paymentReference });
    const seen: [string, number][] = [];
    for await (const { paymentReference, attempts } of inbox.failedChanges()) {
      seen.push([paymentReference, attempts]);
      await inbox.discard({ paymentReference: 'b', key: sampleEvent().key });
      if (seen.length === 1) await fail(inbox, { paymentReference: 'c' });
    }
    expect(seen).toEqual([
      ['a', 1],
      ['c', 2],
    ]);
  });

  it('block what comes after in the order of keys, within one microsecond', async () => {
    const failures = { parkAfter: 1, blockParked: true };
    const inbox = memoryInbox();
    await fail(inbox, { key: 'b', failures });
    expect(await inbox.process(sampleEvent({ key: 'a', failures }), done)).toBe('processed');
    await expect(inbox.process(sampleEvent({ key: 'c', failures }), done)).rejects.toMatchObject({
      code: 'CHANGE_BLOCKED',
    });
  });

  it('of one payment block no other', async () => {
    const failures = { parkAfter: 1, blockParked: true };
    const inbox = memoryInbox();
    await fail(inbox, { paymentReference: 'a', failures });
    const other = sampleEvent({ paymentReference: 'b', key: 'later', failures });
    expect(await inbox.process(other, done)).toBe('processed');
  });
});
