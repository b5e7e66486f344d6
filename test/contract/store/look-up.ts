import { expect } from 'vitest';
import type { It } from './callback-stage.js';
import { assertPayment, type Stage } from './stage.js';

type Found = { referenceNumber: string } | 'not-created' | undefined;

/** A `lookUp` that knows one payment, and the references for which it was called that are this one. */
function lookUpOf(reference: string, find: () => Found | Promise<Found>) {
  const calls: string[] = [];
  const lookUp = async (asked: string): Promise<Found> => {
    // Other cases have left their payments.
    if (asked !== reference) return undefined;
    calls.push(asked);
    return find();
  };
  return { lookUp, calls };
}

/** recover() looks unresolved payments up at the service. */
export function testLookUp(it: It<Stage>): void {
  it('resolves an unresolved payment that lookUp finds, at once', async (stage) => {
    const store = await stage.openPayments();
    const { input, reference, referenceNumber } = await stage.createUnresolved(store);
    const { lookUp, calls } = lookUpOf(reference, () => ({ referenceNumber }));
    expect((await store.recover({ lookUp })).found).toBe(1);
    assertPayment(await store.create(input), {
      state: 'created',
      replayed: true,
      referenceNumber,
    });
    expect(calls).toStrictEqual([reference]);
    await store.recover({ lookUp });
    expect(calls).toStrictEqual([reference]);
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('sends an unresolved payment again that lookUp finds not created', async (stage) => {
    const { store, reference } = await stage.createOutlived();
    const { lookUp, calls } = lookUpOf(reference, () => 'not-created');
    const { resent, found } = await store.recover({ lookUp });
    expect({ resent, found }).toStrictEqual({ resent: 1, found: undefined });
    assertPayment(await store.get(reference), { state: 'created', attempts: 2 });
    await store.recover({ lookUp });
    expect(calls).toStrictEqual([reference]);
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
  it('leaves a payment unresolved of which lookUp says nothing, and asks again', async (stage) => {
    const store = await stage.openPayments();
    const { reference } = await stage.createUnresolved(store);
    const { lookUp, calls } = lookUpOf(reference, () => undefined);
    for (let time = 0; time < 2; time += 1) {
      expect(await store.recover({ lookUp })).not.toHaveProperty('found');
    }
    expect(calls).toStrictEqual([reference, reference]);
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 1 });
  });
  it('rejects with what lookUp throws, and leaves its payment unresolved', async (stage) => {
    const { store, reference } = await stage.createOutlived();
    const error = new Error('the service has no such page');
    const { lookUp } = lookUpOf(reference, () => {
      throw error;
    });
    expect(await store.recover({ lookUp }).catch((thrown: unknown) => thrown)).toBe(error);
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 1 });
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('refuses a number from lookUp that is none, and leaves its payment unresolved', async (stage) => {
    const { store, reference } = await stage.createOutlived();
    for (const wrong of [
      null,
      'created',
      {},
      { referenceNumber: '' },
      { referenceNumber: 'PAY-1', status: 7 },
    ]) {
      const { lookUp } = lookUpOf(reference, () => wrong as Found);
      await expect(store.recover({ lookUp })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    }
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 1 });
  });
  it('sends none again before the service has had its time', async (stage) => {
    const store = await stage.openPayments();
    const { reference } = await stage.createUnresolved(store);
    const asked = lookUpOf(reference, () => 'not-created');
    await store.recover({ lookUp: asked.lookUp });
    await stage.loseLease(reference);
    await store.recover({ lookUp: asked.lookUp });
    // It is asked in each pass.
    expect(asked.calls).toStrictEqual([reference, reference]);
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 1 });
    await stage.outlive(reference);
    await store.recover({ lookUp: asked.lookUp });
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
  it('asks about an unresolved payment again when its age has doubled', async (stage) => {
    const { store, reference } = await stage.createOutlived();
    const { lookUp, calls } = lookUpOf(reference, () => undefined);
    await store.recover({ lookUp });
    await stage.letPass(reference, 800_000);
    await store.recover({ lookUp });
    expect(calls).toStrictEqual([reference]);
    await stage.letPass(reference, 200_000);
    await store.recover({ lookUp });
    expect(calls).toStrictEqual([reference, reference]);
  });
  it('looks up the payment of a sender that died', async (stage) => {
    const { reference } = await stage.loseSender(await stage.openPayments());
    const store = await stage.openPayments();
    const { lookUp, calls } = lookUpOf(reference, () => ({ referenceNumber: 'found' }));
    const { unresolved, found } = await store.recover({ lookUp });
    expect({ unresolved, found }).toStrictEqual({ unresolved: 1, found: 1 });
    assertPayment(await store.get(reference), { state: 'created', referenceNumber: 'found' });
    expect(calls).toStrictEqual([reference]);
  });
  it('does not send a payment that was settled or resolved while it was looked up', async (stage) => {
    for (const how of ['callback', 'person', 'sent again'] as const) {
      const { store, input, reference, referenceNumber } = await stage.createOutlived();
      const other = await stage.openPayments();
      const { lookUp } = lookUpOf(reference, async (): Promise<Found> => {
        if (how === 'callback') await stage.pay(other, reference, referenceNumber);
        else {
          await other.markNotCreated(await stage.listed(reference));
          stage.service.answer(reference, 'answer-lost');
          if (how === 'sent again') {
            await other.create(input);
            await stage.outlive(reference);
          }
        }
        return 'not-created';
      });
      expect((await store.recover({ lookUp })).resent).toBe(0);
      const state = {
        callback: 'created',
        person: 'rejected',
        'sent again': 'unresolved',
      } as const;
      assertPayment(await store.get(reference), { state: state[how] });
      const requests = stage.service.requestsFor(reference).length;
      expect(requests).toBe(how === 'sent again' ? 2 : 1);
    }
  });
  it('keeps the number of a callback that came while the payment was looked up', async (stage) => {
    const { store, reference, referenceNumber } = await stage.createOutlived();
    const { lookUp } = lookUpOf(reference, async () => {
      await stage.pay(store, reference, referenceNumber);
      return { referenceNumber: 'another' };
    });
    expect(await store.recover({ lookUp })).not.toHaveProperty('found');
    assertPayment(await store.get(reference), { referenceNumber, status: 'paid' });
  });
  it('lets one of two processes that look a payment up send it', async (stage) => {
    const { store, reference } = await stage.createOutlived();
    const { lookUp } = lookUpOf(reference, () => 'not-created');
    const stores = [store, await stage.openPayments(), await stage.openPayments()];
    await Promise.all(stores.map((one) => one.recover({ lookUp })));
    assertPayment(await store.get(reference), { state: 'created', attempts: 2 });
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
}
