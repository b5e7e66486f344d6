import assert from 'node:assert/strict';
import type { ContractCase } from '../case.js';
import { createPayment, seconds } from '../payment.js';

/** The work runs once, whoever asks. */
export const runCases: readonly ContractCase[] = [
  {
    name: 'runs the work and answers processed when it has completed',
    run: async (stage) => {
      const change = createPayment();
      const delivery = await stage.begin(await stage.open(), change());
      await stage.pause();
      assert.equal(delivery.answer, undefined, 'process answered before the work had completed');
      delivery.complete();
      await delivery.answers('processed');
    },
  },
  {
    name: 'answers duplicate when a processed change comes again, to this inbox or another',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      await stage.deliver(one, event).answers('processed');
      await stage.deliver(one, { ...event }).answers('duplicate');
      await stage.deliver(other, { ...event }).answers('duplicate');
      await stage.deliver(await stage.open(), { ...event }).answers('duplicate');
    },
  },
  {
    name: 'runs the work of one of 50 deliveries at once',
    run: async (stage) => {
      const event = createPayment()();
      const inboxes = [await stage.open(), await stage.open()];
      const deliveries = Array.from({ length: 25 }, () =>
        inboxes.map((inbox) => stage.deliver(inbox, { ...event })),
      ).flat();
      const answers = await Promise.all(
        deliveries.map((delivery) => delivery.answers('processed', 'duplicate', 'busy')),
      );
      const processed = answers.filter((answer) => answer === 'processed').length;
      assert.equal(processed, 1, `${processed} of 50 deliveries at once were processed, not one`);
      await stage.deliver(await stage.open(), event).answers('duplicate');
    },
  },
  {
    name: 'does not answer duplicate while the first delivery is still being processed',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const first = await stage.begin(one, event);
      const repeats = [stage.deliver(one, { ...event }), stage.deliver(other, { ...event })];
      await stage.pause();
      for (const repeat of repeats) repeat.assertHeldOff();
      first.complete();
      await first.answers('processed');
      for (const repeat of repeats) await repeat.answers('busy', 'duplicate');
      await stage.deliver(other, event).answers('duplicate');
    },
  },
  {
    name: 'gives the work a signal that is not aborted',
    run: async (stage) => {
      const delivery = stage.hold(await stage.open(), createPayment()());
      const { signal } = await delivery.begun();
      assert.ok(signal instanceof AbortSignal, 'context.signal must be an AbortSignal');
      await stage.pause();
      assert.equal(signal.aborted, false, 'context.signal is aborted though nothing was lost');
      delivery.complete();
      await delivery.answers('processed');
    },
  },
  {
    name: 'processes the event as it was when the call was made, whatever the caller does to it then',
    run: async (stage) => {
      const inbox = await stage.open();
      const [change, other] = [createPayment(), createPayment()];
      const original = change({ microseconds: 5 });
      const event = { ...original, occurredAt: seconds(0) };
      const delivery = stage.deliver(inbox, event);
      event.occurredAt.setTime(seconds(3600).getTime());
      Object.assign(event, other({ occurredAt: seconds(7200), microseconds: 7 }));
      await delivery.answers('processed');

      await stage.deliver(inbox, original).answers('duplicate');
      await stage.deliver(inbox, event).answers('processed');
      await stage.deliver(inbox, change({ microseconds: 4 })).answers('stale');
      await stage.deliver(inbox, change({ microseconds: 6 })).answers('processed');
    },
  },
];
