import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { PaymentOutbox } from '../../../src/store/outbox.js';
import { recordOf } from './service.js';
import {
  assertPayment,
  collect,
  createInput,
  type It,
  own,
  referencesOf,
  rejectsWith,
  type Stage,
} from './stage.js';

/** Creates a payment whose sender appears dead, but still waits for its answer. */
async function loseSender(stage: Stage, outbox: PaymentOutbox<unknown>) {
  const sending = await stage.createHeld(outbox);
  await stage.loseLease(sending.reference);
  return sending;
}

/** A sender dies. */
export function testCrashes(it: It): void {
  it('treats a payment whose sender died as unresolved, and does not send it again', async (stage) => {
    const { input, reference } = await loseSender(stage, await stage.open());
    const outbox = await stage.open();
    assertPayment(await outbox.get(reference), { state: 'unresolved' });
    const listed = await collect(outbox.unresolved());
    expect(referencesOf(listed)).toContain(reference);
    assertPayment(await outbox.create(input), { state: 'unresolved', replayed: true });
    assertPayment(await outbox.send(reference), { state: 'unresolved', replayed: true });
    await rejectsWith(outbox.create({ ...input, amount: 1 }), 'REFERENCE_CONFLICT');
    await outbox.recover();
    assertPayment(await outbox.get(reference), { state: 'unresolved' });
    expect(stage.service.requestsFor(reference).length).toBe(1);
  });
  it('counts a payment that became unresolved by a crash once in recover', async (stage) => {
    await loseSender(stage, await stage.open());
    const outbox = await stage.open();
    const [first, second] = [await outbox.recover(), await outbox.recover()];
    expect(first.unresolved).toBeGreaterThanOrEqual(1);
    expect(second.unresolved).toBe(0);
  });
  it('stores the late result of a sender that counted as dead, if nothing newer is stored', async (stage) => {
    const outbox = await stage.open();
    for (const [kind, state] of [
      ['created', 'created'],
      [422, 'rejected'],
    ] as const) {
      const { reference, held, call } = await loseSender(stage, outbox);
      await (await stage.open()).recover();
      held.answer(kind);
      await call.catch(() => undefined);
      assertPayment(await outbox.get(reference), { state });
    }
  });
  it('does not let the late result of a sender overwrite that of a callback', async (stage) => {
    const outbox = await stage.open();
    for (const kind of ['refused', 422, 'answer-lost'] as const) {
      const { reference, held, call } = await loseSender(stage, outbox);
      await (await stage.open()).recover();
      const record = recordOf(reference, { referenceNumber: randomUUID(), status: 'paid' });
      await outbox.settle(record, own);
      held.answer(kind);
      assertPayment(await call, { state: 'created', status: 'paid' });
    }
  });
  it('does not let the late result of a sender overwrite that of a person', async (stage) => {
    const outbox = await stage.open();
    const { reference, held, call } = await loseSender(stage, outbox);
    await outbox.resolve(reference, 'not-created', { attempts: 1 });
    held.answer('refused');
    await call.catch(() => undefined);
    assertPayment(await outbox.get(reference), { state: 'rejected' });
  });
  it('does not lose a payment that a sender created although it counted as dead', async (stage) => {
    const [one, other] = [await stage.open(), await stage.open()];
    const { input, reference, held, call } = await loseSender(stage, one);
    await other.resolve(reference, 'not-created', { attempts: 1 });
    assertPayment(await other.create(input), { state: 'created', replayed: false });
    const [first = ''] = stage.service.paymentsOf(reference);
    held.answer('created');
    assertPayment(await call, { state: 'created', referenceNumber: first });
    const second = stage.service.paymentsOf(reference)[1];
    const listed = await collect(one.secondPayments());
    expect(listed.map(({ referenceNumber }) => referenceNumber)).toContain(second);
  });
}

/** Recorded payments are eventually sent. */
export function testRecovery(it: It): void {
  it('sends recorded payments in recover, each once across processes', async (stage) => {
    const outbox = await stage.open();
    const inputs = Array.from({ length: 12 }, () => createInput());
    for (const input of inputs) await stage.record(outbox, input);
    const outboxes = [outbox, await stage.open(), await stage.open()];
    const passes = await Promise.all(outboxes.map((one) => one.recover()));
    const resent = passes.reduce((sum, pass) => sum + pass.resent, 0);
    expect(resent).toBeGreaterThanOrEqual(inputs.length);
    for (const { merchantPaymentReference: reference } of inputs) {
      expect(stage.service.requestsFor(reference).length).toBe(1);
      assertPayment(await outbox.get(reference), { state: 'created' });
    }
    expect(await outbox.recover()).toStrictEqual({ resent: 0, unresolved: 0 });
  });
  it('counts payments with an unknown outcome in recover', async (stage) => {
    const outbox = await stage.open();
    await outbox.recover();
    const inputs = [createInput(), createInput()];
    for (const input of inputs) {
      stage.service.answer(input.merchantPaymentReference, 'answer-lost');
      await stage.record(outbox, input);
    }
    // The second payment waits for the next call, because the service may be failing.
    for (const _ of inputs) {
      const { error, ...counts } = await outbox.recover();
      expect(counts).toStrictEqual({ resent: 1, unresolved: 1 });
      expect(error).toBeInstanceOf(Error);
    }
    expect(await outbox.recover()).toStrictEqual({ resent: 0, unresolved: 0 });
  });
  it("keeps payments that can't be sent now for a later recover", async (stage) => {
    const outbox = await stage.open();
    await outbox.recover();
    // A wrong address, a firewall and expired credentials refuse every payment until they are fixed.
    for (const kind of ['refused', 429, 401, 403, 404, 405] as const) {
      const input = createInput();
      const { merchantPaymentReference: reference } = input;
      stage.service.answer(reference, kind);
      await stage.record(outbox, input);
      const thrown = await outbox.recover().then(
        () => undefined,
        (error) => error,
      );
      if (kind === 401) expect(thrown?.httpStatus).toBe(401);
      else expect(thrown).toBeUndefined();
      assertPayment(await outbox.get(reference), { state: 'recorded' });
      expect((await outbox.recover()).resent).toBe(1);
      assertPayment(await outbox.get(reference), { state: 'created' });
    }
  });
  it('does not send a payment in recover that was rejected after it was listed', async (stage) => {
    const [outbox, other] = [await stage.open(), await stage.open()];
    await outbox.recover();
    // The references sort in the order in which they are listed.
    const prefix = randomUUID();
    const references = Array.from({ length: 10 }, (_, index) => `${prefix}-${index}`);
    for (const merchantPaymentReference of references) {
      await stage.record(outbox, createInput({ merchantPaymentReference }));
    }
    // recover() sends the first one alone. However many it then sends at once, this one is last.
    const late = references.at(-1) as string;
    const held = references.slice(1, -1).map((reference) => stage.service.hold(reference));
    const recovery = stage.start(outbox.recover());
    await Promise.all(held.map(({ received }) => received));
    stage.service.answer(late, 422);
    await other.send(late).catch(() => undefined);
    assertPayment(await other.get(late), { state: 'rejected' });
    for (const { answer } of held) answer();
    await recovery;
    assertPayment(await other.get(late), { state: 'rejected' });
    expect(stage.service.requestsFor(late).length).toBe(1);
  });
  it('continues recover after a payment that the service rejects', async (stage) => {
    const outbox = await stage.open();
    await outbox.recover();
    const [bad, good] = [createInput(), createInput()];
    stage.service.answer(bad.merchantPaymentReference, 422);
    for (const input of [bad, good]) await stage.record(outbox, input);
    expect(await outbox.recover()).toStrictEqual({ resent: 2, unresolved: 0, rejected: 1 });
    assertPayment(await outbox.get(bad.merchantPaymentReference), { state: 'rejected' });
    assertPayment(await outbox.get(good.merchantPaymentReference), { state: 'created' });
  });
}
