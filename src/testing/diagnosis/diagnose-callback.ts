import {
  type CallbackRequest,
  type ResolvedPolicy,
  resolvePolicy,
} from '../../callback/options.js';
import { decodeBody, parseStatusRecord } from '../../callback/record.js';
import { listSecrets } from '../../callback/signing-secret.js';
import type { SigningSecret, VerifyCallbackOptions } from '../../callback/verify.js';
import { CallbackVerificationError, type InvalidOptionError } from '../../errors.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { BodyReadings } from './body-readings.js';
import { type CapturedBody, captureBody } from './captured-body.js';
import { type CapturedHeaders, captureHeaders } from './captured-headers.js';
import { type ClaimedDigest, readClaimedDigests } from './claimed-digests.js';
import type { CallbackDiagnosis, CallbackFinding } from './diagnosis.js';
import { type Explanation, findExplanation, type Readings } from './explanation.js';
import { inOrder } from './finding-order.js';
import { edgeSpace } from './secret-findings.js';
import { hasEdgeSpace, listKeyReadings } from './secret-readings.js';
import { malformedFinding, missingFinding, otherAlgorithmSuspected } from './signature-findings.js';
import { listSignedStrings } from './signed-strings.js';
import { areSwapped, markSwapped } from './swapped-headers.js';
import { findTimestampFaults } from './timestamp-findings.js';
import { runVerifier } from './verdict.js';
import { recordInvalid, unexplained } from './verdict-findings.js';

/**
 * Says why `verifyCallback` refuses a captured callback, and what to do about it: a body that was
 * parsed and written again, a secret that was read wrongly, a clock that is off, a sender that signs
 * another string (interface section 5.2).
 *
 * The verdict is the one of `verifyCallback`. For a refused callback the signature is tried on what
 * the parts could have been, with the fewest differences first: at most 10,000 HMACs over 64 MiB of
 * keys, timestamps and bodies together. Only each secret on the callback as given is tried whatever
 * it takes, as `verifyCallback` does. A body of more than 256 KiB, a secret of more than 4 KiB and an
 * X-Timestamp of more than 1 KiB are taken only as given. Nothing of a secret, and no signature that
 * would be right, is in the result. It is for the desk and for tests: it costs a thousand times what
 * a verification does, so no server should run it on what strangers send.
 *
 * @param request the callback as captured; a parsed body is taken too, and explained
 * @param options those that were given to `verifyCallback`; a secret with white space at an edge is
 * taken too, and explained
 * @throws {InvalidOptionError} when an option can't be right otherwise, an empty secret among them,
 * or when `headers` is no collection of headers
 *
 * @example
 * ```ts
 * import { diagnoseCallback } from 'merchant-payments/testing';
 *
 * declare const captured: { body: Buffer; headers: Record<string, string> };
 *
 * const { verified, findings } = diagnoseCallback(
 *   { rawBody: captured.body, headers: captured.headers },
 *   { signingSecret: process.env.SIGNING_SECRET ?? '' },
 * );
 * for (const { code, message, remedy } of findings) console.log(`${code}: ${message}\n  ${remedy}`);
 * console.log(verified ? 'The callback is right.' : 'The callback is refused.');
 * ```
 */
export function diagnoseCallback(
  request: CallbackRequest,
  options: VerifyCallbackOptions,
): CallbackDiagnosis {
  const policy = freezeClock(resolvePolicy(options));
  const verdict = runVerifier(request, policy, options.signingSecret);
  if ('verified' in verdict) {
    const { payment, secretIndex } = verdict.verified;
    const findings: readonly CallbackFinding[] = Object.freeze([]);
    return Object.freeze({ verified: true, signature: 'right', secretIndex, payment, findings });
  }
  return explainRefusal(request, {
    policy,
    error: verdict.refusal,
    secrets: listSecrets(options.signingSecret).map(({ secret }) => secret as SigningSecret),
  });
}

/** One instant for the verifier and for the findings. */
function freezeClock(policy: ResolvedPolicy): ResolvedPolicy {
  const nowMs = policy.now();
  return { ...policy, now: () => nowMs };
}

type RefusalError = CallbackVerificationError | InvalidOptionError;

interface RefusedCallback {
  readonly policy: ResolvedPolicy;
  readonly secrets: readonly SigningSecret[];
  readonly error: RefusalError;
}

interface Captured {
  readonly body: CapturedBody;
  readonly headers: CapturedHeaders;
}

function explainRefusal(
  request: CallbackRequest,
  { policy, secrets, error }: RefusedCallback,
): CallbackDiagnosis {
  const given = captureHeaders(request.headers);
  const isSwapped = areSwapped(given);
  const captured: Captured = {
    body: captureBody(request.rawBody),
    headers: isSwapped ? { timestamp: given.signature, signature: given.timestamp } : given,
  };
  const read = readClaimedDigests(captured.headers.signature, policy.signatureEncoding);
  const claims = isSwapped ? read.map(markSwapped) : read;
  const readings: Readings = {
    claims,
    keys: listKeyReadings(secrets),
    strings: listSignedStrings(captured.headers.timestamp),
    bodies: new BodyReadings(captured.body),
  };
  const { explanation, hmacs } = findExplanation(readings);
  const signature = judgeSignature(captured.headers, explanation);
  const record = readRecord(error, explanation);
  const findings = [
    ...(explanation?.findings ?? suspectCause(captured, readings, hmacs)),
    ...(secrets.some(hasEdgeSpace) ? [edgeSpace] : []),
    ...findSignatureFaults(captured.headers, claims),
    ...findTimestampFaults(captured.headers.timestamp, {
      unit: policy.timestampUnit,
      nowMs: policy.now(),
      toleranceSeconds: policy.toleranceSeconds,
      signature,
    }),
    ...captured.body.certain,
    ...record.findings,
  ];
  return Object.freeze({
    verified: false,
    signature,
    ...(explanation === undefined ? {} : { secretIndex: explanation.secretIndex }),
    ...(signature === 'right' && record.payment !== undefined ? { payment: record.payment } : {}),
    error: Object.freeze({ code: error.code, message: error.message }),
    findings: inOrder(findings, error.code),
  });
}

function judgeSignature(
  headers: CapturedHeaders,
  explanation: Explanation | undefined,
): CallbackDiagnosis['signature'] {
  if (explanation !== undefined) return explanation.findings.length === 0 ? 'right' : 'explained';
  return headers.signature.values.length === 0 ? 'missing' : 'unexplained';
}

/** What is wrong with X-Signature in itself, whatever it was made from. */
function findSignatureFaults(
  { signature: { values, similar } }: CapturedHeaders,
  claims: readonly ClaimedDigest[],
): readonly CallbackFinding[] {
  if (values.length === 0) return [missingFinding(similar.map(({ name }) => name))];
  return claims.length === 0 ? [malformedFinding(values)] : [];
}

/** For a signature that nothing explains: what can be seen, and what was tried. */
function suspectCause(
  { body }: Captured,
  readings: Readings,
  hmacs: number,
): readonly CallbackFinding[] {
  const [claim] = readings.claims;
  if (claim === undefined) return body.suspected;
  const ofClaim = claim.findings.filter(({ code }) => code !== 'signature-missing');
  const seen = ofClaim.map((finding) =>
    finding.code === 'signature-other-algorithm'
      ? otherAlgorithmSuspected(claim.algorithm, claim.digest.byteLength)
      : finding,
  );
  return [...seen, ...body.suspected, unexplained(readings, hmacs)];
}

interface ReadRecord {
  readonly payment?: PaymentStatusRecord;
  readonly findings: readonly CallbackFinding[];
}

/** An authentic body may still be no record; what is not authentic is not looked into. */
function readRecord(error: RefusalError, explanation: Explanation | undefined): ReadRecord {
  if (explanation === undefined) return { findings: [] };
  if (error instanceof CallbackVerificationError && error.issues !== undefined) {
    return { findings: [recordInvalid(error.issues, explanation)] };
  }
  try {
    return { payment: parseStatusRecord(decodeBody(explanation.body)), findings: [] };
  } catch (failure) {
    const issues = failure instanceof CallbackVerificationError ? (failure.issues ?? []) : [];
    return { findings: [recordInvalid(issues, explanation)] };
  }
}
