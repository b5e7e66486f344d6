import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ContractCase } from '../case.js';
import type { Delivery } from '../delivery.js';
import { createPayment, seconds } from '../payment.js';

// A store may let nobody in, within one process, until the late holder's work has ended.
async function holderAfter(heir: Delivery, begin: () => Promise<Delivery>): Promise<Delivery> {
  try {
    await heir.begun();
    return heir;
  } catch (error) {
    if (heir.answer !== 'busy') throw error;
    return begin();
  }
}

/** A holder that dies, or is taken for dead and is not. */
export const crashCases: readonly ContractCase[] = [
  {
    name: 'processes on another inbox what was held by a process that died',
    needs: 'loseClaim',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      await stage.begin(one, event);
      await stage.loseClaim(event);
      await stage.deliver(other, { ...event }).answers('processed');
      await stage.deliver(other, event).answers('duplicate');
    },
  },
  {
    name: 'rejects for a holder that completes after another has processed the event',
    needs: 'loseClaim',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const late = await stage.begin(one, event);
      await stage.loseClaim(event);
      await stage.deliver(other, { ...event }).answers('processed');
      late.complete();
      await late.rejects();
      await stage.deliver(one, event).answers('duplicate');
    },
  },
  {
    name: 'does not take an event for processed because a holder completes that has lost it',
    needs: 'loseClaim',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const late = await stage.begin(one, event);
      await stage.loseClaim(event);
      const heir = await stage.begin(other, { ...event });
      late.complete();
      await late.rejects();
      const early = stage.deliver(one, { ...event });
      await stage.pause();
      early.assertHeldOff();
      heir.fail();
      await heir.rejects();
      const answer = await early.answers('processed', 'busy');
      await stage.deliver(one, event).answers(answer === 'busy' ? 'processed' : 'duplicate');
    },
  },
  {
    name: 'does not free an event because a holder fails that has lost it',
    needs: 'loseClaim',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const late = await stage.begin(one, event);
      await stage.loseClaim(event);
      const heir = await stage.begin(other, { ...event });
      late.fail();
      await late.rejects();
      const early = stage.deliver(one, { ...event });
      await stage.pause();
      early.assertHeldOff();
      heir.complete();
      await heir.answers('processed');
      await early.answers('duplicate', 'busy');
      await stage.deliver(one, event).answers('duplicate');
    },
  },
  {
    name: 'does not take an event for processed because a holder completes that lost it to its own process',
    needs: 'loseClaim',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const late = await stage.begin(one, event);
      await stage.loseClaim(event);
      const heir = stage.hold(one, { ...event });
      await stage.pause();
      late.complete();
      await late.rejects();
      const holder = await holderAfter(heir, () => stage.begin(one, event));
      const early = stage.deliver(other, { ...event });
      await stage.pause();
      early.assertHeldOff();
      holder.fail();
      await holder.rejects();
      const answer = await early.answers('processed', 'busy');
      await stage.deliver(other, event).answers(answer === 'busy' ? 'processed' : 'duplicate');
    },
  },
  {
    name: 'does not free an event because a holder fails that lost it to its own process',
    needs: 'loseClaim',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const late = await stage.begin(one, event);
      await stage.loseClaim(event);
      const heir = stage.hold(one, { ...event });
      await stage.pause();
      late.fail();
      await late.rejects();
      const holder = await holderAfter(heir, () => stage.begin(one, event));
      const early = stage.deliver(other, { ...event });
      await stage.pause();
      early.assertHeldOff();
      holder.complete();
      await holder.answers('processed');
      await early.answers('duplicate', 'busy');
      await stage.deliver(other, event).answers('duplicate');
    },
  },
  {
    name: 'aborts the signal of a holder that has lost its event',
    needs: 'loseClaim',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const late = stage.hold(one, event);
      const { signal } = await late.begun();
      const aborted = once(signal, 'abort');
      await stage.loseClaim(event);
      await stage.deliver(other, { ...event }).answers('processed');
      await aborted;
      assert.equal(signal.aborted, true);
      late.complete();
      await late.rejects();
    },
  },
  {
    name: 'measures by the newest change processed after the holder of an older one completes late',
    needs: 'loseClaim',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      const older = change();
      const late = await stage.begin(one, older);
      await stage.loseClaim(older);
      await stage.deliver(other, change({ occurredAt: seconds(60) })).answers('processed');
      late.complete();
      await late.rejects();
      await stage.deliver(one, change({ occurredAt: seconds(30) })).answers('stale');
      await stage.deliver(other, change({ occurredAt: seconds(61) })).answers('processed');
    },
  },
];
