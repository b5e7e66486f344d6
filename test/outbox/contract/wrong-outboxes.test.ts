import { describe, expect, it } from 'vitest';
import { outboxContract } from '../../../src/outbox/contract/contract.js';
import { wrongCrashes, wrongRecovery } from './wrong-outboxes/crashes.js';
import { wrongCreation, wrongRecording } from './wrong-outboxes/creation.js';
import { wrongLists, wrongNames, wrongPruning, wrongResolution } from './wrong-outboxes/keeping.js';
import { wrongSettling } from './wrong-outboxes/settling.js';
import { RightOutbox, RightStore, type WrongOutbox } from './wrong-outboxes/wrong-outbox.js';

const wrongOutboxes = [
  ...wrongCreation,
  ...wrongRecording,
  ...wrongSettling,
  ...wrongResolution,
  ...wrongCrashes,
  ...wrongRecovery,
  ...wrongLists,
  ...wrongPruning,
  ...wrongNames,
];

type Parts = Pick<WrongOutbox, 'store' | 'outbox' | 'timeoutMs'>;

// Its transactions roll nothing back: an outbox that takes no part in them is one of the wrong ones.
function contractOn({ store: Store = RightStore, outbox: Outbox = RightOutbox, timeoutMs }: Parts) {
  const store = new Store();
  return outboxContract<unknown>({
    create: ({ client }) => new Outbox(store, client),
    transaction: (body) => body(undefined),
    loseLease: () => store.loseLeases(),
    timeoutMs,
  });
}

describe('the contract catches an outbox that', () => {
  it.each(wrongOutboxes)('$flaw: "$caughtBy"', async ({ caughtBy, says, ...parts }) => {
    const found = contractOn(parts).find(({ name }) => name === caughtBy);
    await expect(found?.run()).rejects.toThrow(says);
  });
});

it('has no case that catches no wrong outbox', () => {
  const names = contractOn({}).map(({ name }) => name);
  expect([...new Set(wrongOutboxes.map(({ caughtBy }) => caughtBy))].sort()).toEqual(names.sort());
});
