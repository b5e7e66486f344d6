import assert from 'node:assert/strict';
import type { ContractCase } from '../case.js';
import { createPayment } from '../payment.js';

/** Work that fails leaves the event as if it had never come. */
export const failureCases: readonly ContractCase[] = [
  {
    name: 'rejects with the very error of the work, and runs the next delivery',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      for (const inbox of [one, other]) {
        const error = new Error('the work failed');
        const thrown = await stage.deliverFailing(inbox, event, error).rejects();
        assert.equal(thrown, error, 'process must reject with the error of the work itself');
      }
      await stage.deliver(one, event).answers('processed');
      await stage.deliver(other, event).answers('duplicate');
    },
  },
  {
    name: 'takes work that throws before it gives a promise for work that failed',
    run: async (stage) => {
      const event = createPayment()();
      const inbox = await stage.open();
      const error = new Error('the work threw');
      const call = async () =>
        inbox.process(event, () => {
          throw error;
        });
      const message = 'process must reject with the error of the work itself';
      await assert.rejects(call, (thrown) => thrown === error, message);
      await stage.deliver(inbox, event).answers('processed');
      await stage.deliver(inbox, event).answers('duplicate');
    },
  },
  {
    name: 'completes the work once when the first of three deliveries at once fails',
    run: async (stage) => {
      const event = createPayment()();
      const [one, other] = [await stage.open(), await stage.open()];
      const first = await stage.begin(one, event);
      const others = [one, other].map((inbox) => stage.deliver(inbox, { ...event }));
      await stage.pause();
      for (const delivery of others) delivery.assertHeldOff();
      const error = new Error('the first failed');
      first.fail(error);
      assert.equal(await first.rejects(), error);

      const answers = await Promise.all(
        others.map((delivery) => delivery.answers('processed', 'duplicate', 'busy')),
      );
      const processed = answers.filter((answer) => answer === 'processed').length;
      assert.ok(processed <= 1, `${processed} deliveries were processed, not one`);
      // Those that waited ran it in turn; those that were refused leave it to a later delivery.
      await stage.deliver(other, event).answers(processed === 1 ? 'duplicate' : 'processed');
      await stage.deliver(one, event).answers('duplicate');
    },
  },
];
