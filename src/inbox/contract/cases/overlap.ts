import type { ContractCase } from '../case.js';
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
