import { describe, it } from 'vitest';
import type { PaymentClient } from '../../src/client/payment-client.js';
import type { PaymentOutbox } from '../../src/store/outbox.js';
import { testCrashes, testRecovery } from './outbox/crashes.js';
import { testCreation, testRecording, testRollback } from './outbox/creation.js';
import { testLists, testNames, testPruning, testResolution } from './outbox/keeping.js';
import { testSettling, testSettlingInTransaction } from './outbox/settling.js';
import { type It, Stage } from './outbox/stage.js';

/** A store, and what it can do. */
export interface OutboxUnderTest<Tx = unknown> {
  /** Creates a new outbox over the same store, as another process would. No lease may expire during a case. */
  create(client: PaymentClient): PaymentOutbox<Tx> | Promise<PaymentOutbox<Tx>>;
  /** Runs the body in a transaction of the store's database, which is rolled back when it rejects. */
  transaction?: ((body: (tx: Tx) => Promise<void>) => Promise<void>) | undefined;
  /** Expires the lease under which the payment is being sent, as if its sender had died. */
  loseLease(merchantPaymentReference: string): void | Promise<void>;
}

/**
 * The promises of an outbox. Each case works on its own payments, with random references, and leaves them in the store.
 *
 * @param make runs in the suite, and may set hooks
 */
export function describeOutboxContract<Tx>(name: string, make: () => OutboxUnderTest<Tx>): void {
  describe(`${name} keeps the contract of an outbox:`, () => {
    const store = make() as OutboxUnderTest;
    const one: It = (title, run) =>
      it(title, async ({ onTestFinished }) => {
        const stage = new Stage(store);
        onTestFinished(() => stage.end());
        await run(stage);
      });
    testCreation(one);
    testRecording(one);
    testSettling(one);
    testResolution(one);
    testCrashes(one);
    testRecovery(one);
    testLists(one);
    testPruning(one);
    testNames(one);
    if (store.transaction === undefined) return;
    testRollback(one);
    testSettlingInTransaction(one);
  });
}
