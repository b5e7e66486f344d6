import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { It } from './callback-stage.js';
import { assertPayment, createInput, rejectsWith, type Stage } from './stage.js';

/** A sender dies. */
export function testLateSenders(it: It<Stage>): void {
  it('treats a payment whose sender died as unresolved, and does not send it again', async (stage) => {
    const { input, reference } = await stage.loseSender(await stage.openPayments());
    const store = await stage.openPayments();
    assertPayment(await store.get(reference), { state: 'unresolved' });
    expect(await stage.attentionTo(reference)).toStrictEqual([]);
    await stage.outlive(reference);
    expect(await stage.attentionTo(reference)).toMatchObject([
      { kind: 'unresolved', attempts: 1, stored: { state: 'unresolved' } },
    ]);
    assertPayment(await store.create(input), { state: 'unresolved', replayed: true });
    assertPayment(await store.send(reference), { state: 'unresolved', replayed: true });
    await rejectsWith(store.create({ ...input, amount: 1 }), 'REFERENCE_CONFLICT');
    await store.recover();
    assertPayment(await store.get(reference), { state: 'unresolved' });
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('counts a payment that became unresolved by a crash once in recover', async (stage) => {
    await stage.loseSender(await stage.openPayments());
    const store = await stage.openPayments();
    const [first, second] = [await store.recover(), await store.recover()];
    expect(first.unresolved).toBeGreaterThanOrEqual(1);
    expect(second.unresolved).toBe(0);
  });
  it('stores the late result of a sender that counted as dead, if nothing newer is stored', async (stage) => {
    const store = await stage.openPayments();
    for (const [kind, state] of [
      ['created', 'created'],
      [422, 'rejected'],
    ] as const) {
      const { reference, held, call } = await stage.loseSender(store);
      await (await stage.openPayments()).recover();
      held.answer(kind);
      await call.catch(() => undefined);
      assertPayment(await store.get(reference), { state });
    }
  });
  it('does not let the late result of a sender overwrite that of a callback', async (stage) => {
    const store = await stage.openPayments();
    for (const kind of ['refused', 422, 'answer-lost'] as const) {
      const { reference, held, call } = await stage.loseSender(store);
      await (await stage.openPayments()).recover();
      await stage.pay(store, reference);
      held.answer(kind);
      assertPayment(await call, { state: 'created', status: 'paid' });
    }
  });
  it('does not let the late result of a sender overwrite that of a person', async (stage) => {
    const store = await stage.openPayments();
    const { reference, held, call } = await stage.loseSender(store);
    await stage.outlive(reference);
    await store.markNotCreated(await stage.listed(reference));
    held.answer('refused');
    await call.catch(() => undefined);
    assertPayment(await store.get(reference), { state: 'rejected' });
  });
  it('does not lose a payment that a sender created although it counted as dead', async (stage) => {
    const [one, other] = [await stage.openPayments(), await stage.openPayments()];
    const { input, reference, held, call } = await stage.loseSender(one);
    await stage.outlive(reference);
    await other.markNotCreated(await stage.listed(reference));
    assertPayment(await other.create(input), { state: 'created', replayed: false });
    const [first = ''] = stage.service.paymentsOf(reference);
    held.answer('created');
    assertPayment(await call, { state: 'created', referenceNumber: first });
    const second = stage.service.paymentsOf(reference)[1];
    expect(await stage.attentionTo(reference, { kinds: ['second-payment'] })).toMatchObject([
      { referenceNumber: second },
    ]);
  });
}

/** Recorded payments are eventually sent. */
export function testRecovery(it: It<Stage>): void {
  it('sends recorded payments in recover, each once across processes', async (stage) => {
    const store = await stage.openPayments();
    const inputs = Array.from({ length: 12 }, () => createInput());
    for (const input of inputs) await stage.record(store, input);
    const stores = [store, await stage.openPayments(), await stage.openPayments()];
    const passes = await Promise.all(stores.map((one) => one.recover()));
    const resent = passes.reduce((sum, pass) => sum + pass.resent, 0);
    expect(resent).toBeGreaterThanOrEqual(inputs.length);
    for (const { merchantPaymentReference: reference } of inputs) {
      expect(stage.service.requestsFor(reference).length).toBe(1);
      assertPayment(await store.get(reference), { state: 'created' });
    }
    expect(await store.recover()).toStrictEqual({ resent: 0, unresolved: 0 });
  });
  it('sends recorded payments while a recovery runs, and none once it has stopped', async (stage) => {
    const store = await stage.openPayments();
    const [first, second] = [createInput(), createInput()];
    await stage.record(store, first);
    const errors: unknown[] = [];
    const recovery = store.startRecovery({ onError: (error) => void errors.push(error) });
    // Waits for the first round.
    await recovery.stop();
    assertPayment(await store.get(first.merchantPaymentReference), { state: 'created' });
    await stage.record(store, second);
    assertPayment(await store.get(second.merchantPaymentReference), { state: 'recorded' });
    expect(errors).toStrictEqual([]);
  });
  it('counts payments with an unknown outcome in recover', async (stage) => {
    const store = await stage.openPayments();
    await store.recover();
    const inputs = [createInput(), createInput()];
    for (const input of inputs) {
      stage.service.answer(input.merchantPaymentReference, 'answer-lost');
      await stage.record(store, input);
    }
    // The second payment waits for the next call, because the service may be failing.
    for (const _ of inputs) {
      const { error, ...counts } = await store.recover();
      expect(counts).toStrictEqual({ resent: 1, unresolved: 1 });
      expect(error).toBeInstanceOf(Error);
    }
    expect(await store.recover()).toStrictEqual({ resent: 0, unresolved: 0 });
  });
  it("keeps payments that can't be sent now for a later recover", async (stage) => {
    const store = await stage.openPayments();
    await store.recover();
    // A wrong address, a firewall and expired credentials refuse every payment until they are fixed.
    for (const kind of ['refused', 429, 401, 403, 404, 405] as const) {
      const input = createInput();
      const { merchantPaymentReference: reference } = input;
      stage.service.answer(reference, kind);
      await stage.record(store, input);
      const thrown = await store.recover().then(
        () => undefined,
        (error) => error,
      );
      if (kind === 401) expect(thrown?.httpStatus).toBe(401);
      else expect(thrown).toBeUndefined();
      assertPayment(await store.get(reference), { state: 'recorded' });
      expect((await store.recover()).resent).toBe(1);
      assertPayment(await store.get(reference), { state: 'created' });
    }
  });
  it('does not send a payment in recover that was rejected after it was listed', async (stage) => {
    const [store, other] = [await stage.openPayments(), await stage.openPayments()];
    await store.recover();
    // The references sort in the order in which they are listed.
    const prefix = randomUUID();
    const [first, late] = [`${prefix}-1`, `${prefix}-2`];
    for (const merchantPaymentReference of [first, late]) {
      await stage.record(store, createInput({ merchantPaymentReference }));
    }
    const held = stage.service.hold(first);
    const recovery = stage.start(store.recover());
    await held.received;
    stage.service.answer(late, 422);
    await other.send(late).catch(() => undefined);
    assertPayment(await other.get(late), { state: 'rejected' });
    held.answer();
    await recovery;
    assertPayment(await other.get(late), { state: 'rejected' });
    expect(stage.service.requestsFor(late).length).toBe(1);
  });
  it('continues recover after a payment that the service rejects', async (stage) => {
    const store = await stage.openPayments();
    await store.recover();
    const [bad, good] = [createInput(), createInput()];
    stage.service.answer(bad.merchantPaymentReference, 422);
    for (const input of [bad, good]) await stage.record(store, input);
    expect(await store.recover()).toStrictEqual({ resent: 2, unresolved: 0, rejected: 1 });
    assertPayment(await store.get(bad.merchantPaymentReference), { state: 'rejected' });
    assertPayment(await store.get(good.merchantPaymentReference), { state: 'created' });
  });
}
