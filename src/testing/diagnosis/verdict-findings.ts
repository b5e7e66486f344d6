import type { Issue } from '../../errors.js';
import { describeIssues } from '../../errors.js';
import type { CallbackFinding } from './diagnosis.js';
import type { Explanation, Readings } from './explanation.js';

export function recordInvalid(
  issues: readonly Issue[],
  { findings }: Explanation,
): CallbackFinding {
  const verdict =
    findings.length === 0
      ? 'The signature is right'
      : 'The signature is right once the other findings are mended';
  return {
    code: 'record-invalid',
    message: `${verdict}, but the body is not a payment status record: ${describeIssues(issues)}.`,
    remedy:
      'Compare the body with the record that is expected: the one of interface section 2.2, as far as recordSchema narrows it.',
    issues: Object.freeze(
      issues.map(({ path, message }) =>
        Object.freeze({ path: Object.freeze(path.map(String)), message }),
      ),
    ),
  };
}

export function unexplained(
  { keys, strings, bodies, claims }: Readings,
  hmacs: number,
): CallbackFinding {
  return {
    code: 'unexplained',
    message:
      'Nothing that was tried makes the signature right: most likely it was made with the secret of another account or environment, or the callback is forged; else the body was changed in a way that is not known here. Do not act on this callback.',
    remedy:
      'Compare the signing secret with the one of the account whose callback this is (test or live).',
    tried: Object.freeze([
      `${keys.length} readings of the signing secret: trimmed, without quotes, name or prefix, decoded, encoded, hex in the other case`,
      `${strings.length} signed strings: other separators and orders, without the timestamp`,
      `${bodies.count} spellings of the body: white space, key order, escapes, line ends, encodings`,
      `${claims.length} readings of X-Signature`,
      `${hmacs} HMACs of all these, those with the fewest differences first`,
    ]),
  };
}
