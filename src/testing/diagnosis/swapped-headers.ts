import type { CapturedHeaders } from './captured-headers.js';
import { type ClaimedDigest, readClaimedDigests } from './claimed-digests.js';
import type { CallbackFinding } from './diagnosis.js';
import { readInstant } from './timestamp-text.js';

const swappedFinding: CallbackFinding = Object.freeze({
  code: 'timestamp-signature-swapped',
  message: 'X-Timestamp and X-Signature are swapped: each holds the value of the other.',
  remedy: 'Pass each of the two values under the name of the other.',
});

/** Told by their looks: no digest reads as a time, and no time as a digest. */
export function areSwapped({ timestamp, signature }: CapturedHeaders): boolean {
  return (
    timestamp.values.length > 0 &&
    signature.values.length > 0 &&
    signature.values.every((value) => readInstant(value) !== undefined) &&
    readClaimedDigests(timestamp, 'auto').length > 0
  );
}

/** A digest that came in X-Timestamp. */
export function markSwapped(claim: ClaimedDigest): ClaimedDigest {
  return {
    ...claim,
    findings: [swappedFinding, ...claim.findings],
    weight: claim.weight + 1,
  };
}
