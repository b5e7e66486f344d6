import { describe, it } from 'vitest';
import type { Awaitable } from '../../src/protocol/waiting.js';
import type { CallbackStore, ManagedStore, StatusChange } from '../../src/store/callback-store.js';
import type { StoreOptions } from '../../src/store/options.js';
import { testDeclined, testReplaced } from './store/attempts.js';
import { testAttention, testPages } from './store/attention.js';
import { CallbackStage } from './store/callback-stage.js';
import { testLateSenders, testRecovery } from './store/crashes.js';
import { testCreation, testRecording, testTransactions } from './store/creation.js';
import { testCurrent, testSecondPaid } from './store/current.js';
import { testDecisions } from './store/decisions.js';
import { testKeptFailures } from './store/failed-changes.js';
import { testForeign } from './store/foreign.js';
import { testInstants } from './store/instants.js';
import { testNames, testPruning } from './store/keeping.js';
import { testKeptBodies, testPrunedBodies } from './store/kept-bodies.js';
import { testLookUp } from './store/look-up.js';
import { testMissedCallbacks } from './store/missed.js';
import { testOrder } from './store/order.js';
import {
  testConcurrency,
  testCrashes,
  testLease,
  testOverlap,
  testSignal,
  testWait,
} from './store/overlap.js';
import { testRepetitions } from './store/repetitions.js';
import { testNames as testChangeNames, testFailures, testRuns } from './store/runs.js';
import { testSettling, testSettlingWithoutWork } from './store/settling.js';
import { Stage } from './store/stage.js';

/** A store for callbacks, and what it can do. */
export interface CallbackStoreUnderTest {
  /**
   * Creates a new store over the same data, as another process would. Called several times per case. A store with a
   * pool needs at least four connections.
   */
  create(options: ContractOptions): Awaitable<CallbackStore<unknown>>;
  /**
   * Makes the store treat the current holder of this change's claim as dead, by expiring its lease or closing its
   * connection. The holder must not be able to renew the claim afterwards.
   */
  loseClaim?: ((change: StatusChange) => Awaitable<void>) | undefined;
  /** False for a store on an ORM that does not show the loss of a connection. */
  readonly showsLosses?: boolean;
  /** False for a store with one connection, where orders wait for each other. */
  readonly concurrent?: boolean;
  /**
   * For a store whose claims expire: creates one as above whose claims last this long. Only the cases that wait for a
   * renewal use it: in the others, a short lease would be lost whenever the machine stands still.
   */
  withLease?(leaseMs: number): Awaitable<CallbackStore<unknown>>;
  /** The longest time that `process` waits before it answers `busy`. One case waits that long. */
  readonly waitMs?: number;
}

/** A store of this package with everything that it does, and what it can do. */
export interface StoreUnderTest<Tx = unknown> extends CallbackStoreUnderTest {
  /** Creates one as above. The lease of a payment must not expire during a case. */
  create(options: ContractOptions): Awaitable<ManagedStore<Tx>>;
  /** Makes a stored payment look as if this many milliseconds had passed: its sender then appears dead. */
  letPass(merchantPaymentReference: string, ms: number): Awaitable<void>;
  /**
   * For a store whose `record` needs a `tx`: runs the body in a transaction of the store's database, which is rolled
   * back when it rejects.
   */
  transaction?: ((body: (tx: Tx) => Promise<void>) => Promise<void>) | undefined;
  /** False for an engine's further drivers: pages of a list take seconds to fill, and their SQL is the same on each. */
  readonly hasPages?: boolean;
  /** For such a store: its pool, its connection or its ORM's database object, none of which is a transaction. */
  database?: (() => unknown) | undefined;
}

/** The options of a store that a case sets. */
export type ContractOptions = Pick<StoreOptions, 'client' | 'declined'>;

/**
 * The promises of a store for callbacks. Each case works on its own orders, with random references, and leaves them in
 * the store. While a change of an order is being processed, a store may answer `busy` at once or make the delivery wait.
 *
 * @param make runs in the suite, and may set hooks
 */
export function describeCallbackStore(name: string, make: () => CallbackStoreUnderTest): void {
  describe(`${name} keeps the contract of a store for callbacks:`, () => {
    testCallbacks(make());
  });
}

/**
 * The promises of a store of this package: the same, and those of what it keeps and of payments.
 *
 * @param make runs in the suite, and may set hooks
 */
export function describeStore<Tx>(name: string, make: () => StoreUnderTest<Tx>): void {
  describe(`${name} keeps the contract of a store:`, () => {
    const store = make() as StoreUnderTest;
    testCallbacks(store);
    const one = casesOn(() => new Stage(store));
    testKeptFailures(one);
    testKeptBodies(one);
    testCreation(one);
    testRecording(one);
    testSettling(one);
    testSettlingWithoutWork(one);
    testForeign(one);
    testDeclined(one);
    testReplaced(one);
    testInstants(one);
    testDecisions(one);
    testLateSenders(one);
    testRecovery(one);
    testLookUp(one);
    testRepetitions(one);
    testMissedCallbacks(one);
    testAttention(one);
    if (store.hasPages !== false) testPages(one);
    testPruning(one);
    testPrunedBodies(one);
    testNames(one);
    if (store.transaction !== undefined) testTransactions(one);
  });
}

function testCallbacks(store: CallbackStoreUnderTest): void {
  const one = casesOn(() => new CallbackStage(store));
  testRuns(one);
  testFailures(one);
  testOrder(one);
  testCurrent(one);
  testSecondPaid(one);
  testOverlap(one);
  testChangeNames(one);
  if (store.concurrent !== false) testConcurrency(one);
  if (store.withLease !== undefined) testLease(one);
  if (store.waitMs !== undefined) testWait(one);
  if (store.loseClaim !== undefined) testCrashes(one);
  if (store.loseClaim !== undefined && store.showsLosses !== false) testSignal(one);
}

function casesOn<Scene extends CallbackStage>(makeStage: () => Scene) {
  return (title: string, run: (stage: Scene) => Promise<void>): void =>
    it(title, async ({ onTestFinished }) => {
      const stage = makeStage();
      onTestFinished(() => stage.end());
      await run(stage);
    });
}
