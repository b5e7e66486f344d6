import { it } from 'vitest';
import { outboxContract } from '../../../src/outbox/contract/contract.js';
import type { OutboxContractSubject } from '../../../src/outbox/contract/subject.js';

/** Makes a test of every case. */
export function runContract<Tx>(subject: OutboxContractSubject<Tx>): void {
  for (const { name, skipped, run } of outboxContract(subject)) it.skipIf(skipped)(name, run);
}
