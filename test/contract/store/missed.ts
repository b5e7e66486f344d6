import { expect } from 'vitest';
import type { PaymentStore } from '../../../src/store/payment-store.js';
import type { It } from './callback-stage.js';
import { assertPayment, collect, ofKind, referencesOf, type Stage } from './stage.js';

type Found = { referenceNumber: string; status?: string } | 'not-created' | undefined;

/** Recovers until `lookUp` was asked about a reference, and returns how often it was. A pass asks about some. */
async function recoverWith(
  store: PaymentStore<unknown>,
  reference: string,
  found: Found,
  passes = 1,
): Promise<number> {
  let count = 0;
  const lookUp = (asked: string): Found => {
    if (asked !== reference) return undefined;
    count += 1;
    return found;
  };
  for (let pass = 0; pass < passes; pass += 1) await store.recover({ lookUp });
  return count;
}

// Any text.
const EXPIRED = 'expired é\u0000 "\\';

// Those of other cases may be asked about first.
const PASSES = 12;

/** recover() looks at payments whose callback the service may have given up. */
export function testMissedCallbacks(it: It<Stage>): void {
  it('shows the status that lookUp finds of a payment without a callback, and applies nothing', async (stage) => {
    const store = await stage.openPayments();
    const [before, missed, after] = [
      await stage.createKnown(store),
      await stage.createKnown(store),
      await stage.createKnown(store),
    ];
    const { input, reference, referenceNumber, first: paid } = missed;
    expect(await recoverWith(store, reference, { referenceNumber, status: 'paid' })).toBe(0);
    for (const one of [before, missed, after]) await stage.outlive(one.reference);
    const changedAt = (await store.get(reference))?.changedAt;
    const found = { referenceNumber, status: 'paid' };
    expect(await recoverWith(store, reference, found, PASSES)).toBe(1);
    const item = await stage.itemOf('no-callback', reference);
    expect(item).toMatchObject({ foundStatus: 'paid', attempts: 1 });
    expect(item?.since).toStrictEqual(changedAt);
    assertPayment(await store.create(input), {
      state: 'created',
      status: 'pending',
      replayed: true,
    });
    // It comes before older ones.
    const managed = await stage.openManaged();
    const listed = await collect(managed.attention({ kinds: ['no-callback'], olderThanMs: 0 }));
    const order = referencesOf(listed);
    for (const other of [before, after]) {
      expect(order.indexOf(reference)).toBeLessThan(order.indexOf(other.reference));
    }
    const statuses = ofKind('no-callback', listed).map(({ foundStatus }) => foundStatus);
    expect(statuses.lastIndexOf('paid')).toBe(statuses.filter((one) => one === 'paid').length - 1);
    await stage.deliver(store, paid({ status: 'paid' })).runsWith({ current: true });
    expect(await stage.itemOf('no-callback', reference)).toBeUndefined();
    assertPayment(await store.get(reference), { status: 'paid' });
  });
  it('asks about a payment without a callback again when its age has doubled', async (stage) => {
    const store = await stage.openPayments();
    const { reference, referenceNumber } = await stage.createKnown(store);
    const found = { referenceNumber, status: 'pending' };
    await stage.outlive(reference);
    expect(await recoverWith(store, reference, found, PASSES)).toBe(1);
    // What its record says already is nothing new.
    expect(await stage.itemOf('no-callback', reference)).not.toHaveProperty('foundStatus');
    await stage.letPass(reference, 800_000);
    expect(await recoverWith(store, reference, found, PASSES)).toBe(0);
    await stage.letPass(reference, 200_000);
    const expired = { referenceNumber, status: EXPIRED };
    expect(await recoverWith(store, reference, expired, PASSES)).toBe(1);
    expect(await stage.itemOf('no-callback', reference)).toMatchObject({ foundStatus: EXPIRED });
    await stage.letPass(reference, 1_800_000);
    expect(await recoverWith(store, reference, undefined, PASSES)).toBe(0);
    await stage.letPass(reference, 400_000);
    expect(await recoverWith(store, reference, undefined, PASSES)).toBe(1);
    expect(await stage.itemOf('no-callback', reference)).toMatchObject({ foundStatus: EXPIRED });
  });
  it('changes nothing about a created payment that lookUp does not find, which a person may', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference } = await stage.createKnown(store);
    await stage.outlive(reference);
    expect(await recoverWith(store, reference, 'not-created', PASSES)).toBe(1);
    assertPayment(await store.get(reference), { state: 'created' });
    expect(stage.service.requestsFor(reference).length).toBe(1);
    await store.markNotCreated(await stage.listed(reference, 'no-callback'));
    assertPayment(await store.create(input), { state: 'created', replayed: false, attempts: 2 });
    expect(await stage.itemOf('no-callback', reference)).not.toHaveProperty('foundStatus');
    // It is a new payment.
    expect(await recoverWith(store, reference, undefined, PASSES)).toBe(0);
  });
  it('forgets a status that was found of a payment that a person takes back', async (stage) => {
    const store = await stage.openPayments();
    const { reference, referenceNumber } = await stage.createKnown(store);
    await stage.outlive(reference);
    await recoverWith(store, reference, { referenceNumber, status: 'declined' }, PASSES);
    const item = await stage.listed(reference, 'no-callback');
    expect(item).toMatchObject({ foundStatus: 'declined' });
    await store.discard(item);
    expect(await stage.itemOf('no-callback', reference)).toBeUndefined();
    assertPayment(await store.get(reference), { state: 'created', status: 'pending' });
  });
}
