import { it } from 'vitest';
import { inboxContract } from '../../../src/inbox/contract/contract.js';
import type { InboxContractSubject } from '../../../src/inbox/contract/subject.js';

/** Makes a test of every case. */
export function runContract<Tx>(subject: InboxContractSubject<Tx>): void {
  for (const { name, skipped, run } of inboxContract(subject)) it.skipIf(skipped)(name, run);
}
