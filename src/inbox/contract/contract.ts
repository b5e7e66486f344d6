import {
  boolean,
  func,
  type OptionRules,
  optional,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import { toRunnableCases } from '../../storage/contract/guard.js';
import { keptBodyCases, keptFailureCases } from './cases/kept-failures.js';
import { orderCases, staleCases } from './cases/order.js';
import { crashCases, overlapCases } from './cases/overlap.js';
import { failureCases, nameCases, runCases } from './cases/runs.js';
import { type Need, Stage } from './stage.js';
import type { InboxContractCase, InboxContractSubject } from './subject.js';

const ALL = [
  ...runCases,
  ...failureCases,
  ...orderCases,
  ...staleCases,
  ...overlapCases,
  ...crashCases,
  ...nameCases,
  ...keptFailureCases,
  ...keptBodyCases,
];

const rules = {
  create: func<InboxContractSubject<unknown>['create']>('that returns an inbox'),
  loseClaim: optional(func('that takes an event')),
  concurrent: withDefault(true, boolean),
  leaseMs: optional(wholeNumber({ min: 1, unit: 'milliseconds' })),
  waitMs: optional(wholeNumber({ unit: 'milliseconds' })),
  keepsFailures: withDefault(false, boolean),
  keepsBodies: withDefault(false, boolean),
  timeoutMs: withDefault(30_000, wholeNumber({ min: 1, unit: 'milliseconds' })),
} satisfies OptionRules<InboxContractSubject<unknown>>;

const WHY_SKIPPED: Record<Need, string> = {
  loseClaim: 'it needs loseClaim, which makes a holder appear dead',
  concurrent: 'the store processes one payment at a time (concurrent: false)',
  leaseMs: 'it needs leaseMs, the lifetime of a claim that is not renewed',
  waitMs: 'it needs waitMs, the longest time that a delivery waits',
  keepsFailures: 'the inbox keeps no failed changes (keepsFailures)',
  keepsBodies: 'the inbox keeps no bodies of failed changes (keepsBodies)',
};

const HINT =
  "a call of process has not settled, or a signal that should abort has not. The store may hang, or make a delivery wait for one that can't end before it";

/**
 * The promises of a `CallbackInbox` (interface section 6) as tests, for your own store and
 * any test runner. Each case works on its own payments, with random references, and leaves them in the
 * store. No case sleeps, except the one whose work takes three leases (`leaseMs`).
 *
 * While a payment is being processed, a store may answer `busy` at once or make the delivery wait:
 * both pass.
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 * import { memoryInbox } from 'merchant-payments/inbox';
 * import { inboxContract } from 'merchant-payments/inbox/contract';
 *
 * const inbox = memoryInbox(); // for your own store, let each create() return a new inbox over the same store
 * for (const { name, skipped, run } of inboxContract({ create: () => inbox })) {
 *   test(name, { skip: skipped }, run);
 * }
 * ```
 *
 * @throws {InvalidOptionError} when a field of the subject is invalid
 */
export function inboxContract<Tx>(subject: InboxContractSubject<Tx>): readonly InboxContractCase[] {
  const resolved = resolveOptions(subject, rules, { holds: 'create' });
  const { loseClaim, concurrent, leaseMs, waitMs, timeoutMs, keepsFailures } = resolved;
  const range = { max: Math.floor(timeoutMs / 4), unit: 'milliseconds' };
  optional(wholeNumber({ min: 1, ...range }))(leaseMs, 'leaseMs');
  optional(wholeNumber(range))(waitMs, 'waitMs');

  return toRunnableCases(ALL, {
    createStage: () => new Stage(subject, { concurrent }),
    lacks: {
      loseClaim: loseClaim === undefined && WHY_SKIPPED.loseClaim,
      concurrent: !concurrent && WHY_SKIPPED.concurrent,
      leaseMs: leaseMs === undefined && WHY_SKIPPED.leaseMs,
      waitMs: waitMs === undefined && WHY_SKIPPED.waitMs,
      keepsFailures: !keepsFailures && WHY_SKIPPED.keepsFailures,
      keepsBodies: !(keepsFailures && resolved.keepsBodies) && WHY_SKIPPED.keepsBodies,
    },
    timeoutMs,
    hint: HINT,
  });
}
