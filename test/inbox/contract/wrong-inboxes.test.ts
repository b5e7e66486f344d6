import { describe, expect, it } from 'vitest';
import { inboxContract } from '../../../src/inbox/contract/contract.js';
import type { InboxContractCase } from '../../../src/inbox/contract/subject.js';
import { KeepingInbox, ProcessBoundInbox } from './keeping-inbox.js';
import { type RightInbox, Store } from './right-inbox.js';
import { wrongInboxes } from './wrong-inboxes/all.js';
import { LEASE_MS } from './wrong-inboxes/wrong-inbox.js';

function contractOn(
  inbox: typeof RightInbox,
  { waitMs = 0, timeoutMs }: { waitMs?: number | undefined; timeoutMs?: number | undefined },
): readonly InboxContractCase[] {
  const store = new Store();
  return inboxContract({
    create: () => new inbox(store, waitMs),
    loseClaim: (event) => new inbox(store, waitMs).loseClaim(event),
    leaseMs: LEASE_MS,
    waitMs: waitMs === Number.POSITIVE_INFINITY ? undefined : waitMs,
    keepsFailures: true,
    keepsBodies: true,
    timeoutMs,
  });
}

describe.each([
  ['answers busy', KeepingInbox, { waitMs: 0 }],
  ['lets deliveries wait', KeepingInbox, { waitMs: Number.POSITIVE_INFINITY }],
  ['lets deliveries wait for a while', KeepingInbox, { waitMs: 50 }],
  ['answers busy until work that lost its claim has ended', ProcessBoundInbox, { waitMs: 0 }],
])('the contract on a right inbox that %s', (_, inbox, options) => {
  for (const { name, skipped, run } of contractOn(inbox, options)) {
    it.skipIf(skipped)(name, run);
  }
});

describe('the contract catches an inbox that', () => {
  it.each(wrongInboxes)('$flaw: "$caughtBy"', async ({ inbox, caughtBy, says, waitMs }) => {
    // A case that reports its timeout has a short one; the others need time on a slow machine.
    const timeoutMs = String(says).includes('has not ended') ? 200 : 2_000;
    const cases = contractOn(inbox, { waitMs, timeoutMs });
    await expect(cases.find(({ name }) => name === caughtBy)?.run()).rejects.toThrow(says);
  });
});

it('has no case that catches no wrong inbox', () => {
  const names = contractOn(KeepingInbox, {}).map(({ name }) => name);
  expect([...new Set(wrongInboxes.map(({ caughtBy }) => caughtBy))].sort()).toEqual(names.sort());
});
