import type { ContractCase } from '../case.js';
import { createPayment, seconds } from '../payment.js';

const processStale = true;

/** With `processStale` an older change runs too, and its work knows that it is older. */
export const staleCases: readonly ContractCase[] = [
  {
    name: 'runs a stale change with stale true, on this inbox and another',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      await stage.deliver(one, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliver(one, change({ processStale })).runsWith({ stale: true });
      const older = change({ occurredAt: seconds(59), processStale });
      await stage.deliver(other, older).runsWith({ stale: true });
    },
  },
  {
    name: 'runs a change with stale false when none newer was processed',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      await stage.deliver(one, change()).runsWith({ stale: false });
      await stage.deliver(other, change({ processStale })).runsWith({ stale: false });
      const newest = { occurredAt: seconds(60), processStale };
      await stage.deliverFailing(one, change(newest)).rejects();
      const newer = change({ occurredAt: seconds(30), processStale });
      await stage.deliver(other, newer).runsWith({ stale: false });
      await stage.deliver(one, change({ processStale })).runsWith({ stale: true });
      await stage.deliver(one, change(newest)).runsWith({ stale: false });
    },
  },
  {
    name: 'answers duplicate to a stale change that was processed, to this inbox and another',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      const stale = change({ processStale });
      await stage.deliver(one, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliver(one, stale).answers('processed');
      for (const inbox of [one, other]) {
        await stage.deliver(inbox, { ...stale }).answers('duplicate');
        await stage.deliver(inbox, { ...stale, processStale: false }).answers('duplicate');
      }
    },
  },
  {
    name: 'runs a stale change again, with stale true, after its work failed',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      const stale = change({ processStale });
      await stage.deliver(one, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliverFailing(one, stale).rejects();
      await stage.deliverFailing(other, { ...stale }).rejects();
      await stage.deliver(one, stale).runsWith({ stale: true });
      await stage.deliver(other, stale).answers('duplicate');
    },
  },
  {
    name: 'runs with stale true an older change that came while a newer one was being processed',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      const older = change({ processStale });
      const newer = await stage.begin(one, change({ occurredAt: seconds(60), processStale }));
      const early = stage.deliver(other, older);
      await stage.pause();
      early.assertHeldOff();
      newer.complete();
      await newer.answers('processed');
      const waited = (await early.answers('processed', 'busy')) === 'processed';
      const run = waited ? early : stage.deliver(other, older);
      await run.runsWith({ stale: true });
    },
  },
];
