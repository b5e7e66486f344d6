import type { CallbackVerificationErrorCode } from '../../errors.js';
import { type CallbackFinding, callbackFindingCodes } from './diagnosis.js';

// The first word of a finding's code names the part of the callback that it is about.
const REFUSED_PART: Readonly<Record<CallbackVerificationErrorCode | 'INVALID_OPTION', string>> = {
  INVALID_OPTION: 'secret-',
  RAW_BODY_REQUIRED: 'body-',
  MISSING_TIMESTAMP: 'timestamp-',
  INVALID_TIMESTAMP: 'timestamp-',
  TIMESTAMP_OUTSIDE_WINDOW: 'timestamp-',
  MISSING_SIGNATURE: 'signature-',
  INVALID_SIGNATURE: 'signature-',
  SIGNATURE_MISMATCH: 'secret-',
  INVALID_RECORD: 'record-',
};

/**
 * Puts first what the verifier refused the callback for, since that is what was seen; then the rest
 * in the order of {@link callbackFindingCodes}. Of one code the first finding is kept.
 */
export function inOrder(
  findings: readonly CallbackFinding[],
  refusedFor: CallbackVerificationErrorCode | 'INVALID_OPTION',
): readonly CallbackFinding[] {
  const part = REFUSED_PART[refusedFor];
  const rank = ({ code }: CallbackFinding) =>
    callbackFindingCodes.indexOf(code) - (code.startsWith(part) ? callbackFindingCodes.length : 0);
  const byCode = new Map<string, CallbackFinding>();
  for (const finding of findings) {
    if (!byCode.has(finding.code)) byCode.set(finding.code, Object.freeze(finding));
  }
  return Object.freeze([...byCode.values()].sort((left, right) => rank(left) - rank(right)));
}
