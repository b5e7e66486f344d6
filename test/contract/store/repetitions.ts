import { expect } from 'vitest';
import type { StoreClient } from '../../../src/store/options.js';
import type { It } from './callback-stage.js';
import type { AnswerKind } from './service.js';
import { assertPayment, ofKind, type Stage } from './stage.js';

const promises = ['merchantPaymentReference', { header: 'idempotency-key' }] as const;

/** Opens a store whose service recognises a creation that it gets twice. */
const openRecognised = (stage: Stage, idempotency: (typeof promises)[number] = promises[0]) =>
  stage.openPayments(stage.service.createClient({ idempotency }));

/** A service may promise to recognise a repeated creation. */
export function testRepetitions(it: It<Stage>): void {
  it('sends an unresolved payment again in recover if the service recognises it', async (stage) => {
    for (const idempotency of promises) {
      const { reference, referenceNumber } = await stage.createOver();
      const store = await openRecognised(stage, idempotency);
      expect((await store.recover()).resent).toBeGreaterThanOrEqual(1);
      const created = { state: 'created', attempts: 2, referenceNumber } as const;
      assertPayment(await store.get(reference), created);
      expect(stage.service.requestsFor(reference).length).toBe(2);
      expect(stage.service.paymentsOf(reference)).toStrictEqual([referenceNumber]);
    }
  });
  it('does not send it again with a client that says nothing of it, or hides it', async (stage) => {
    const { reference } = await stage.createOutlived();
    const recognised = stage.service.createClient({ idempotency: 'merchantPaymentReference' });
    const wrapper: StoreClient = {
      payments: { create: (input, options) => recognised.payments.create(input, options) },
    };
    for (const client of [stage.service.client, wrapper]) {
      await (await stage.openPayments(client)).recover();
      expect(stage.service.requestsFor(reference).length).toBe(1);
      expect(ofKind('unresolved', await stage.attentionTo(reference)).length).toBe(1);
    }
  });
  it('sends it again in recover alone', async (stage) => {
    const { input, reference } = await stage.createOver();
    const store = await openRecognised(stage);
    const unresolved = { state: 'unresolved', replayed: true, attempts: 1 } as const;
    await stage.record(store, input);
    assertPayment(await store.create(input), unresolved);
    assertPayment(await store.send(reference), unresolved);
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('does not send it again before its last attempt has ended, whether or not that is a repetition', async (stage) => {
    const store = await openRecognised(stage);
    const { reference } = await stage.createUnresolved(store);
    for (const attempts of [1, 2]) {
      stage.service.answer(reference, 'answer-lost');
      await store.recover();
      expect(stage.service.requestsFor(reference).length).toBe(attempts);
      await stage.loseLease(reference);
      await store.recover();
      expect(stage.service.requestsFor(reference).length).toBe(attempts + 1);
    }
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 3 });
  });
  it('sends the payment of a sender that died again', async (stage) => {
    const { reference, held, call } = await stage.loseSender(await stage.openPayments());
    const store = await openRecognised(stage);
    await store.recover();
    assertPayment(await store.get(reference), { state: 'created', attempts: 2 });
    held.answer('refused');
    assertPayment(await call, { state: 'created' });
  });
  it('lets one of several processes send it again', async (stage) => {
    const { reference, referenceNumber } = await stage.createOver();
    const stores = await Promise.all([1, 2, 3].map(() => openRecognised(stage)));
    const held = stage.service.hold(reference);
    const passes = stores.map((store) => stage.start(store.recover()));
    await held.received;
    held.answer();
    await Promise.all(passes);
    assertPayment(await stores[0]?.get(reference), { state: 'created', referenceNumber });
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
  it('leaves it unresolved if that says nothing of the attempt before, and sends it again', async (stage) => {
    const kinds: AnswerKind[] = ['refused', 429, 401, 403, 404, 405, 409, 503];
    for (const kind of kinds) {
      const { reference, referenceNumber } = await stage.createOver();
      const store = await openRecognised(stage);
      stage.service.answer(reference, kind);
      await store.recover().catch((error) => expect(error).toMatchObject({ httpStatus: 401 }));
      expect(stage.service.requestsFor(reference).length).toBe(2);
      assertPayment(await store.get(reference), { state: 'unresolved', attempts: 2 });
      await stage.loseLease(reference);
      await store.recover();
      assertPayment(await store.get(reference), { state: 'created', referenceNumber });
    }
  });
  it('leaves it unresolved if the service refuses it then, and sends it no third time', async (stage) => {
    const { input, reference } = await stage.createOver();
    const store = await openRecognised(stage);
    stage.service.answer(reference, 422);
    const { rejected, unresolved } = await store.recover();
    expect({ rejected, unresolved }).toStrictEqual({ rejected: undefined, unresolved: 1 });
    await stage.loseLease(reference);
    await store.recover();
    expect(stage.service.requestsFor(reference).length).toBe(2);
    assertPayment(await store.get(reference), { state: 'unresolved', attempts: 2 });
    // Corrected, it would be another payment for the service.
    await expect(store.create({ ...input, amount: 1 })).rejects.toMatchObject({
      code: 'REFERENCE_CONFLICT',
    });
    expect(ofKind('unresolved', await stage.attentionTo(reference))).toStrictEqual([]);
    await stage.outlive(reference);
    await store.markNotCreated(await stage.listed(reference));
    assertPayment(await store.get(reference), { state: 'rejected' });
  });
  it('looks up only what the service refuses then', async (stage) => {
    const { reference, referenceNumber } = await stage.createOver();
    const store = await openRecognised(stage);
    const asked: string[] = [];
    const lookUp = async (one: string) => {
      if (one !== reference) return undefined;
      asked.push(one);
      return { referenceNumber };
    };
    stage.service.answer(reference, 422);
    await store.recover({ lookUp });
    expect(asked).toStrictEqual([]);
    await stage.loseLease(reference);
    expect((await store.recover({ lookUp })).found).toBe(1);
    assertPayment(await store.get(reference), { state: 'created', referenceNumber });
    expect(stage.service.requestsFor(reference).length).toBe(2);
  });
  it('is settled by a callback that is faster than the answer to the repetition', async (stage) => {
    const { reference, referenceNumber } = await stage.createOver();
    const store = await openRecognised(stage);
    const held = stage.service.hold(reference);
    const pass = stage.start(store.recover());
    await held.received;
    await stage.pay(store, reference, referenceNumber);
    held.answer(422);
    await pass;
    assertPayment(await store.get(reference), { state: 'created', status: 'paid' });
  });
}
