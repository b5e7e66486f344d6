import type { InboxEvent } from '../../inbox.js';
import type { ContractCase } from '../case.js';
import type { Delivery } from '../delivery.js';
import { createPayment, seconds } from '../payment.js';

/** One payment at a time, many payments at once. */
export const overlapCases: readonly ContractCase[] = [
  {
    name: 'never processes two changes of one payment at once',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      const next = change({ occurredAt: seconds(60) });
      const first = await stage.begin(one, change());
      const early = [stage.deliver(one, next), stage.deliver(other, { ...next })];
      await stage.pause();
      for (const delivery of early) delivery.assertHeldOff();
      first.complete();
      await first.answers('processed');
      for (const delivery of early) await delivery.answers('processed', 'duplicate', 'busy');
      const ran = early.some(({ answer }) => answer === 'processed');
      await stage.deliver(other, next).answers(ran ? 'duplicate' : 'processed');
    },
  },
  {
    name: 'runs every change that came while another was being processed, in the order in which they came',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      const [second, third] = [1, 2].map((count) =>
        change({ occurredAt: seconds(count), processStale: true }),
      ) as [InboxEvent, InboxEvent];
      const first = await stage.begin(inbox, change());
      const early: Delivery[] = [];
      for (const event of [second, third]) {
        const delivery = stage.deliver(await stage.open(), event);
        early.push(delivery);
        // The store has it before the next.
        await stage.pause();
        delivery.assertHeldOff();
      }
      first.complete();
      await first.answers('processed');
      for (const delivery of early) {
        const answer = await delivery.answers('processed', 'busy');
        // Stale would mean that the newer one went first.
        if (answer === 'processed') await delivery.runsWith({ stale: false });
      }
      for (const [index, event] of [second, third].entries()) {
        const ran = early[index]?.answer === 'processed';
        await stage.deliver(inbox, event).answers(ran ? 'duplicate' : 'processed');
      }
    },
  },
  {
    name: 'keeps an event while its work takes three leases',
    needs: 'leaseMs',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const holder = await stage.begin(one, event);
      for (let lease = 1; lease <= 3; lease += 1) {
        await stage.letLeasePass();
        const early = stage.deliver(other, { ...event });
        await stage.pause();
        early.assertHeldOff();
      }
      holder.complete();
      await holder.answers('processed');
      await stage.deliver(other, event).answers('duplicate');
    },
  },
  {
    name: 'answers busy to what has waited for as long as the store lets it wait',
    needs: 'waitMs',
    run: async (stage) => {
      const change = createPayment();
      const event = change();
      const [one, other] = [await stage.open(), await stage.open()];
      const holder = await stage.begin(one, event);
      const others = [
        stage.deliver(one, { ...event }),
        stage.deliver(other, { ...event }),
        stage.deliver(other, change({ occurredAt: seconds(60) })),
      ];
      for (const delivery of others) await delivery.answers('busy');
      // Had one of them been acknowledged, the change would be lost now.
      holder.fail();
      await holder.rejects();
      await stage.deliver(other, event).answers('processed');
    },
  },
  {
    name: 'processes a payment while another is being processed',
    needs: 'concurrent',
    run: async (stage) => {
      const [one, other] = [await stage.open(), await stage.open()];
      const first = await stage.begin(one, createPayment()());
      await stage.deliver(one, createPayment()()).answers('processed');
      await stage.deliver(other, createPayment()()).answers('processed');
      first.complete();
      await first.answers('processed');
    },
  },
];
