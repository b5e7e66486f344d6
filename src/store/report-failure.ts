import type { Change } from './change.js';
import type { KeptFailure } from './change-steps.js';

/** Tells the policy that this delivery has parked its change. */
export function reportParked({ policy }: Change, kept: KeptFailure | undefined): void {
  if (kept?.isNewlyParked !== true) return;
  try {
    policy.onParked?.(kept.attempts);
  } catch {}
}

/** Tells the policy that the failure could not be stored. */
export function reportNotKept({ policy }: Change, error: unknown): void {
  try {
    policy.onNotKept?.(error);
  } catch {}
}
