import assert from 'node:assert/strict';
import type { ContractCase } from '../case.js';
import { createPayment, seconds } from '../payment.js';

/** A change older than the last one processed is stale. */
export const orderCases: readonly ContractCase[] = [
  {
    name: 'answers stale to a change older than the last one processed',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      await stage.deliver(one, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliver(one, change({ occurredAt: seconds(59) })).answers('stale');
      await stage.deliver(other, change({ occurredAt: seconds(0) })).answers('stale');
      await stage.deliver(other, change({ occurredAt: seconds(61) })).answers('processed');
    },
  },
  {
    name: 'answers stale to a stale change again',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      const stale = change({ occurredAt: seconds(59) });
      await stage.deliver(inbox, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliver(inbox, stale).answers('stale');
      await stage.deliver(inbox, stale).answers('stale');
      await stage.deliver(await stage.open(), stale).answers('stale');
    },
  },
  {
    name: 'runs a stale change with processStale, once',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      const stale = change({ occurredAt: seconds(59), processStale: true });
      await stage.deliver(inbox, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliver(inbox, stale).answers('processed');
      await stage.deliver(inbox, stale).answers('duplicate');
    },
  },
  {
    name: 'measures by the newest change processed after an older one was run with processStale',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      const older = change({ occurredAt: seconds(0), processStale: true });
      await stage.deliver(inbox, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliver(inbox, older).answers('processed');
      await stage.deliver(inbox, change({ occurredAt: seconds(30) })).answers('stale');
    },
  },
  {
    name: 'answers duplicate to a processed change after a newer one, with processStale too',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      const older = change({ occurredAt: seconds(0) });
      await stage.deliver(inbox, older).answers('processed');
      await stage.deliver(inbox, change({ occurredAt: seconds(60) })).answers('processed');
      await stage.deliver(inbox, older).answers('duplicate');
      await stage.deliver(inbox, { ...older, processStale: true }).answers('duplicate');
    },
  },
  {
    name: 'runs another change of the same time',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      for (const microseconds of [0, undefined, 0]) {
        await stage.deliver(inbox, change({ microseconds })).answers('processed');
      }
    },
  },
  {
    name: 'tells changes of one millisecond apart by their microseconds',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      await stage.deliver(inbox, change({ microseconds: 500 })).answers('processed');
      await stage.deliver(inbox, change({ microseconds: 499 })).answers('stale');
      await stage.deliver(inbox, change()).answers('stale');
      await stage.deliver(inbox, change({ microseconds: 500 })).answers('processed');
      await stage.deliver(inbox, change({ microseconds: 501 })).answers('processed');
      await stage.deliver(inbox, change({ microseconds: 500 })).answers('stale');
    },
  },
  {
    name: 'runs an older change after a newer one has failed',
    run: async (stage) => {
      const change = createPayment();
      const inbox = await stage.open();
      const newer = change({ occurredAt: seconds(60) });
      await stage.deliverFailing(inbox, newer, new Error('the newer failed')).rejects();
      await stage.deliver(inbox, change()).answers('processed');
    },
  },
  {
    name: 'does not answer stale on account of a newer change that is still being processed',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      const older = change();
      const newer = await stage.begin(one, change({ occurredAt: seconds(60) }));
      const early = stage.deliver(other, older);
      await stage.pause();
      early.assertHeldOff();
      newer.fail(new Error('the newer failed'));
      await newer.rejects();
      const answer = await early.answers('processed', 'busy');
      await stage.deliver(one, older).answers(answer === 'busy' ? 'processed' : 'duplicate');
    },
  },
  {
    name: 'answers stale to an older change that came while a newer one was being processed',
    run: async (stage) => {
      const change = createPayment();
      const [one, other] = [await stage.open(), await stage.open()];
      const older = change();
      const newer = await stage.begin(one, change({ occurredAt: seconds(60) }));
      const early = stage.deliver(other, older);
      await stage.pause();
      early.assertHeldOff();
      newer.complete();
      await newer.answers('processed');
      await early.answers('stale', 'busy');
      await stage.deliver(other, older).answers('stale');
      assert.equal(early.runs, 0);
    },
  },
];
