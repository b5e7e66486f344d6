import { describe, it } from 'vitest';
import type { CallbackInbox, InboxEvent } from '../../src/store/inbox.js';
import { testKeptBodies, testKeptFailures } from './inbox/kept-failures.js';
import { testOrder, testStaleChanges } from './inbox/order.js';
import { testConcurrency, testCrashes, testLease, testOverlap, testWait } from './inbox/overlap.js';
import { testFailures, testNames, testRuns } from './inbox/runs.js';
import { type It, Stage } from './inbox/stage.js';

/** A store, and what it can do. */
export interface InboxUnderTest {
  /**
   * Creates a new inbox over the same store, as another process would. Called several times per case. A store with a
   * pool needs at least four connections.
   */
  create(): CallbackInbox<unknown> | Promise<CallbackInbox<unknown>>;
  /**
   * Makes the store treat the current holder of this event's claim as dead, by expiring its lease or closing its
   * connection. The holder must not be able to renew the claim afterwards.
   */
  loseClaim?: ((event: InboxEvent) => void | Promise<void>) | undefined;
  /** False for a store with one connection, where payments wait for each other. */
  readonly concurrent?: boolean;
  /** The lifetime of a claim that is not renewed. One case takes three of them. */
  readonly leaseMs?: number;
  /** The longest time that `process` waits before it answers `busy`. One case waits that long. */
  readonly waitMs?: number;
  readonly keepsFailures?: boolean;
  readonly keepsBodies?: boolean;
}

/**
 * The promises of an inbox. Each case works on its own payments, with random references, and leaves them in the store.
 * While a payment is being processed, a store may answer `busy` at once or make the delivery wait.
 *
 * @param make runs in the suite, and may set hooks
 */
export function describeInboxContract(name: string, make: () => InboxUnderTest): void {
  describe(`${name} keeps the contract of an inbox:`, () => {
    const store = make();
    const one: It = (title, run) =>
      it(title, async ({ onTestFinished }) => {
        const stage = new Stage(store);
        onTestFinished(() => stage.end());
        await run(stage);
      });
    testRuns(one);
    testFailures(one);
    testOrder(one);
    testStaleChanges(one);
    testOverlap(one);
    testNames(one);
    if (store.concurrent !== false) testConcurrency(one);
    if (store.leaseMs !== undefined) testLease(one);
    if (store.waitMs !== undefined) testWait(one);
    if (store.loseClaim !== undefined) testCrashes(one);
    if (store.keepsFailures) testKeptFailures(one);
    if (store.keepsBodies) testKeptBodies(one);
  });
}
