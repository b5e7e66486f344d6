import type { InboxOutcome } from './inbox.js';

type Granted = 'claimed' | 'claimed-stale';

/**
 * What a store answers to a claim. `claimed-stale` grants it for a change older than the last one
 * processed: a look at the watermark in a second step could meet another one.
 */
export type ClaimAnswer = Granted | Exclude<InboxOutcome, 'processed'>;

const ANSWERS: Readonly<Record<ClaimAnswer, true>> = {
  claimed: true,
  'claimed-stale': true,
  duplicate: true,
  stale: true,
  busy: true,
};

/** False for anything else that a driver gives: what is not understood must not run the work. */
export function isClaimAnswer(value: unknown): value is ClaimAnswer {
  return typeof value === 'string' && Object.hasOwn(ANSWERS, value);
}

export function isClaimed(answer: ClaimAnswer): answer is Granted {
  return answer === 'claimed' || answer === 'claimed-stale';
}
