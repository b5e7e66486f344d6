import { describe, expect, it } from 'vitest';
import { inboxContract } from '../../../src/inbox/contract/contract.js';
import type { InboxContractCase } from '../../../src/inbox/contract/subject.js';
import { RightInbox, Store } from './right-inbox.js';
import { wrongInboxes } from './wrong-inboxes/all.js';

function contractOn(
  inbox: typeof RightInbox,
  { waits = false, timeoutMs }: { waits?: boolean | undefined; timeoutMs?: number },
): readonly InboxContractCase[] {
  const store = new Store();
  return inboxContract({
    create: () => new inbox(store, waits),
    loseClaim: (event) => new inbox(store, waits).loseClaim(event),
    timeoutMs,
  });
}

describe.each([
  ['answers busy', { waits: false }],
  ['lets deliveries wait', { waits: true }],
])('the contract on a right inbox that %s', (_, options) => {
  it.each(contractOn(RightInbox, options))('$name', ({ run }) => run());
});

describe('the contract catches an inbox that', () => {
  it.each(wrongInboxes)('$flaw: "$caughtBy"', async ({ inbox, caughtBy, says, waits }) => {
    const cases = contractOn(inbox, { waits, timeoutMs: 200 });
    await expect(cases.find(({ name }) => name === caughtBy)?.run()).rejects.toThrow(says);
  });
});

it('has no case that catches no wrong inbox', () => {
  const names = contractOn(RightInbox, {}).map(({ name }) => name);
  expect([...new Set(wrongInboxes.map(({ caughtBy }) => caughtBy))].sort()).toEqual(names.sort());
});
