import { InvalidOptionError } from '../../errors.js';
import {
  assertFunction,
  assertKnownOptions,
  assertOptionsObject,
  assertWholeNumber,
  type OptionNames,
} from '../../protocol/assert-option.js';
import { describeValue } from '../../protocol/describe-value.js';
import type { Need } from './case.js';
import { crashCases } from './cases/crashes.js';
import { failureCases } from './cases/failures.js';
import { nameCases } from './cases/names.js';
import { orderCases } from './cases/order.js';
import { overlapCases } from './cases/overlap.js';
import { runCases } from './cases/runs.js';
import { staleCases } from './cases/stale.js';
import { runUnderGuard } from './guard.js';
import { Stage } from './stage.js';
import type { InboxContractCase, InboxContractSubject } from './subject.js';

const ALL = [
  ...runCases,
  ...failureCases,
  ...orderCases,
  ...staleCases,
  ...overlapCases,
  ...crashCases,
  ...nameCases,
];

const NAMES: OptionNames<InboxContractSubject<unknown>> = {
  create: true,
  loseClaim: true,
  concurrent: true,
  leaseMs: true,
  waitMs: true,
  timeoutMs: true,
};

const SUBJECT_FIELDS = 'create, loseClaim, concurrent, leaseMs, waitMs and timeoutMs';

const WHY_SKIPPED: Record<Need, string> = {
  loseClaim: 'it needs loseClaim, which makes a holder seem dead',
  concurrent: 'the store processes one payment at a time (concurrent: false)',
  leaseMs: 'it needs leaseMs, how long a claim lives without being renewed',
  waitMs: 'it needs waitMs, how long a delivery waits at most',
};

/**
 * What a {@link CallbackInbox} promises (interface section 6), as tests for a store of one's own
 * and any test runner. Each case works on payments of its own, with random references, and leaves
 * them in the store. Nothing in it sleeps but the case that works for three leases (`leaseMs`).
 *
 * A store may answer `busy` at once while a payment is being processed, or let the delivery wait:
 * both pass.
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 * import { memoryInbox } from 'merchant-payments/inbox';
 * import { inboxContract } from 'merchant-payments/inbox/contract';
 *
 * const inbox = memoryInbox(); // your own: one store, and an inbox over it at each create()
 * for (const { name, skipped, run } of inboxContract({ create: () => inbox })) {
 *   test(name, { skip: skipped }, run);
 * }
 * ```
 *
 * @throws {InvalidOptionError} when a field of the subject can't be right
 */
export function inboxContract<Tx>(subject: InboxContractSubject<Tx>): readonly InboxContractCase[] {
  assertOptionsObject('subject', subject, SUBJECT_FIELDS);
  assertKnownOptions(subject, NAMES);
  const { loseClaim, concurrent = true, leaseMs, waitMs, timeoutMs = 30_000 } = subject;
  assertFunction('create', subject.create, 'that gives an inbox');
  if (loseClaim !== undefined) assertFunction('loseClaim', loseClaim, 'that takes an event');
  if (typeof concurrent !== 'boolean') {
    const came = describeValue(concurrent);
    throw new InvalidOptionError('concurrent', `concurrent must be a boolean, but ${came} came`);
  }
  assertWholeNumber('timeoutMs', timeoutMs, { min: 1, unit: 'milliseconds' });
  const range = { max: Math.floor(timeoutMs / 4), unit: 'milliseconds' };
  if (leaseMs !== undefined) assertWholeNumber('leaseMs', leaseMs, { min: 1, ...range });
  if (waitMs !== undefined) assertWholeNumber('waitMs', waitMs, { min: 0, ...range });

  const lacks: Record<Need, boolean> = {
    loseClaim: loseClaim === undefined,
    concurrent: !concurrent,
    leaseMs: leaseMs === undefined,
    waitMs: waitMs === undefined,
  };
  return ALL.map(({ name, needs, run }) => {
    if (needs && lacks[needs]) return skippedCase(name, WHY_SKIPPED[needs]);
    return {
      name,
      run: () => runUnderGuard(new Stage(subject, { concurrent }), { name, run, timeoutMs }),
    };
  });
}

function skippedCase(name: string, skipped: string): InboxContractCase {
  // Resolving would count as a promise kept.
  return {
    name,
    skipped,
    run: () => Promise.reject(new Error(`"${name}" can't be run: ${skipped}`)),
  };
}
