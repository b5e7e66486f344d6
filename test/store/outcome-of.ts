import type { ChangeOutcome, ChangeResult } from '../../src/store/callback-store.js';

/** Delivers a change to a store. Rejects with what its work has thrown. */
export async function outcomeOf<Change, Work>(
  store: { process(change: Change, work: Work): Promise<ChangeResult> },
  change: Change,
  work: Work,
): Promise<ChangeOutcome> {
  const { outcome, error } = await store.process(change, work);
  if (outcome === 'failed') throw error;
  return outcome;
}
