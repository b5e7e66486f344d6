import {
  func,
  type OptionRules,
  optional,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import { toRunnableCases } from '../../storage/contract/guard.js';
import { crashCases, recoverCases } from './cases/crashes.js';
import { createCases, recordCases } from './cases/creation.js';
import { listCases, nameCases, pruneCases, resolveCases } from './cases/keeping.js';
import { settleCases } from './cases/settling.js';
import { Stage } from './stage.js';
import type { OutboxContractCase, OutboxContractSubject } from './subject.js';

const ALL = [
  ...createCases,
  ...recordCases,
  ...settleCases,
  ...resolveCases,
  ...crashCases,
  ...recoverCases,
  ...listCases,
  ...pruneCases,
  ...nameCases,
];

const rules = {
  create: func<OutboxContractSubject<unknown>['create']>('that returns an outbox'),
  transaction: optional(func('that runs its argument in a transaction')),
  loseLease: optional(func('that takes a reference')),
  timeoutMs: withDefault(30_000, wholeNumber({ min: 1, unit: 'milliseconds' })),
} satisfies OptionRules<OutboxContractSubject<unknown>>;

/**
 * The promises of a `PaymentOutbox` as tests, for your own store and any test runner. Each case works on its
 * own payments, with random references, and leaves them in the store. The contract simulates the
 * service.
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 * import { outboxContract } from 'merchant-payments/outbox/contract';
 * import { postgresOutbox } from 'merchant-payments/outbox/postgres';
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * for (const { name, skipped, run } of outboxContract({
 *   create: ({ client }) => postgresOutbox(pool, { client }),
 * })) {
 *   test(name, { skip: skipped }, run);
 * }
 * ```
 *
 * @throws {InvalidOptionError} when a field of the subject is invalid
 */
export function outboxContract<Tx>(
  subject: OutboxContractSubject<Tx>,
): readonly OutboxContractCase[] {
  const { transaction, loseLease, timeoutMs } = resolveOptions(subject, rules, { holds: 'create' });
  return toRunnableCases(ALL, {
    createStage: () => new Stage(subject as OutboxContractSubject<unknown>),
    lacks: {
      transaction: transaction === undefined && 'it needs transaction, which runs a transaction',
      loseLease: loseLease === undefined && 'it needs loseLease, which makes a sender appear dead',
    },
    timeoutMs,
    hint: 'a call of the outbox has not settled. The store may hang, or the outbox may wait for a payment that no process is sending',
  });
}
