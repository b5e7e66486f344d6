import { createHmac, timingSafeEqual } from 'node:crypto';
import { assertRequest, decodeBody, parseStatusRecord } from '../../callback/checks.js';
import { findContentEncoding } from '../../callback/headers.js';
import {
  type CallbackRequest,
  importSecrets,
  type ResolvedPolicy,
  type SigningSecret,
  type VerifiedCallback,
  type VerifyCallbackOptions,
  verifyRules,
} from '../../callback/options.js';
import { createCallbackVerifier, verifyCallback } from '../../callback/verify.js';
import {
  CallbackVerificationError,
  describeIssues,
  InvalidOptionError,
  type Issue,
} from '../../errors.js';
import { resolveOptions } from '../../protocol/options.js';
import { fieldOf, isObject, ownFields } from '../../protocol/own-fields.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { type BodyReading, captureBody, listBodyReadings, unknownCompression } from './body.js';
import { type CallbackDiagnosis, type CallbackFinding, callbackFindingCodes } from './diagnosis.js';
import { captureHeaders, findTimestampFaults, readSignature } from './headers.js';
import {
  edgeSpace,
  hasEdgeSpace,
  type KeyReading,
  listKeyReadings,
  otherSecret,
} from './secret.js';

/**
 * Explains why `verifyCallback` refuses a captured callback, and what to do about it: a body that was
 * parsed and serialized again, a secret that was read wrongly, a clock that is off (interface section 5.2).
 *
 * The verdict is that of `verifyCallback`. For a refused callback, it tries the forms that the secret and the
 * body may have had when they were signed, those with the fewest differences first. A body of more than 256 KiB is
 * used only as given. The result contains no part of a secret, and no signature that would match.
 *
 * Use it in development and in tests: it costs many times as much as a verification, so do not run it on a server for
 * what strangers send.
 *
 * @param request the callback as captured; a parsed body is accepted too, and explained
 * @param options the options of `verifyCallback`; a secret with white space around it is accepted too, and
 * explained
 * @throws {InvalidOptionError} when any other option is invalid, such as an empty secret, or `headers` is not a
 * collection of headers
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
 * console.log(verified ? 'The callback is valid.' : 'The callback is refused.');
 * ```
 */
export function diagnoseCallback(
  request: CallbackRequest,
  options: VerifyCallbackOptions,
): CallbackDiagnosis {
  const resolved = resolveOptions(options, verifyRules, { holds: 'signingSecret' });
  const nowMs = resolved.now();
  // The verifier and the findings must see the same instant, and the same callback.
  const policy = { ...resolved, now: () => nowMs };
  const signingSecret = policy.signingSecret as VerifyCallbackOptions['signingSecret'];
  const captured = isObject(request)
    ? ({
        rawBody: fieldOf(request, 'rawBody'),
        headers: fieldOf(request, 'headers'),
      } as CallbackRequest)
    : request;
  const verdict = runVerifier(captured, policy, signingSecret);
  if (!(verdict instanceof Error)) {
    const { payment, secretIndex } = verdict;
    const findings: readonly CallbackFinding[] = Object.freeze([]);
    return Object.freeze({ verified: true, signature: 'right', secretIndex, payment, findings });
  }
  const secrets = importSecrets<SigningSecret, SigningSecret>(signingSecret, (secret) => secret);
  return explainRefusal(captured, { policy, secrets, error: verdict });
}

type RefusalError = CallbackVerificationError | InvalidOptionError;

/**
 * Returns what `verifyCallback` returns or throws. White space around a secret counts as a refusal, because it
 * can be explained.
 *
 * @throws {InvalidOptionError} for any other invalid option
 */
function runVerifier(
  request: CallbackRequest,
  policy: ResolvedPolicy,
  signingSecret: VerifyCallbackOptions['signingSecret'],
): VerifiedCallback | RefusalError {
  const trim = (secret: SigningSecret) => (hasEdgeSpace(secret) ? secret.trim() : secret);
  const isList = Array.isArray(signingSecret);
  const trimmed = isList ? signingSecret.map(trim) : trim(signingSecret as SigningSecret);
  // Throws for whatever is wrong with the options besides white space.
  const { receivedAt: _ofOneCallback, ...general } = policy;
  createCallbackVerifier({ ...general, signingSecret: trimmed });
  assertRequest(request, 'rawBody and headers');
  try {
    return verifyCallback(request, { ...policy, signingSecret });
  } catch (error) {
    if (error instanceof CallbackVerificationError) return error;
    if (error instanceof InvalidOptionError && error.option.startsWith('signingSecret')) {
      return error;
    }
    throw error;
  }
}

interface RefusedCallback {
  readonly policy: ResolvedPolicy;
  readonly secrets: readonly SigningSecret[];
  readonly error: RefusalError;
}

function explainRefusal(
  request: CallbackRequest,
  { policy, secrets, error }: RefusedCallback,
): CallbackDiagnosis {
  const headers = captureHeaders(request.headers);
  const body = captureBody(request.rawBody);
  const { digest, findings: ofSignature } = readSignature(
    headers.signature,
    policy.signatureEncoding,
  );
  const { text: timestamp, faults: ofTimestamp } = headers.timestamp;
  const keys = listKeyReadings(secrets);
  const bodies = listBodyReadings(body);
  const { explanation, tried } = ownFields(findExplanation({ digest, timestamp, keys, bodies }));
  const changes = explanation && [...explanation.findings, ...ofSignature, ...ofTimestamp];
  const signature = judgeSignature(headers.signature.faults, changes);
  // An authentic body may still not be a record. Other bodies are not examined.
  const record: ReadRecord = ownFields(explanation ? readRecord(explanation.body, error) : {});
  const encoding = tried && findContentEncoding(request.headers);
  const ofBody = [...body.faults, ...(encoding ? [unknownCompression(encoding)] : [])];
  // Visible damage is suspected before the secret.
  const damage = [...ofBody, ...headers.signature.faults, ...ofTimestamp];
  const isWhole = damage.length === 0 && ownFields(readRecord(body.bytes)).payment !== undefined;
  const findings = [
    ...(explanation?.findings ?? ofBody),
    ...(secrets.some(hasEdgeSpace) ? [edgeSpace] : []),
    ...ofSignature,
    ...findTimestampFaults(headers.timestamp, policy),
    ...(tried === undefined
      ? []
      : [isWhole ? otherSecret(secrets.length, tried) : unexplained(tried)]),
    ...(record.issues ? [recordInvalid(record.issues, signature)] : []),
  ];
  return Object.freeze({
    verified: false,
    signature,
    ...(explanation && { secretIndex: explanation.secretIndex }),
    ...(signature === 'right' && record.payment && { payment: record.payment }),
    error: Object.freeze({ code: error.code, message: error.message }),
    findings: inOrder(findings, error.code),
  });
}

/** `changes` are the differences from the callback as given; `undefined` without an explanation. */
function judgeSignature(
  faults: readonly CallbackFinding[],
  changes: readonly CallbackFinding[] | undefined,
): CallbackDiagnosis['signature'] {
  if (changes !== undefined) return changes.length === 0 ? 'right' : 'explained';
  return faults.some(({ code }) => code === 'signature-missing') ? 'missing' : 'unexplained';
}

const unexplained = (tried: readonly string[]): CallbackFinding => ({
  code: 'unexplained',
  message:
    'No known change makes the signature match: the body was damaged or changed in an unknown way, the callback was signed with another secret, or it is forged. Do not act on this callback.',
  remedy: 'Capture a callback again, with the bytes of its body as received, and verify that.',
  tried,
});

interface ReadRecord {
  readonly payment?: PaymentStatusRecord;
  /** Without a payment: what is wrong. */
  readonly issues?: readonly Issue[] | undefined;
}

function readRecord(bytes: Uint8Array, refusal?: RefusalError): ReadRecord {
  try {
    // Only recordSchema refused the body, which is otherwise a record.
    if (refusal instanceof CallbackVerificationError && Object.hasOwn(refusal, 'issues')) {
      throw refusal;
    }
    return { payment: parseStatusRecord(decodeBody(bytes)) };
  } catch (error) {
    if (error instanceof CallbackVerificationError) {
      return { issues: fieldOf(error, 'issues') as readonly Issue[] | undefined };
    }
    throw error;
  }
}

function recordInvalid(
  issues: readonly Issue[],
  signature: CallbackDiagnosis['signature'],
): CallbackFinding {
  const once = signature === 'right' ? '' : ' once the other findings are fixed';
  return {
    code: 'record-invalid',
    message: `The signature matches${once}, but the body is not a payment status record: ${describeIssues(issues)}.`,
    remedy:
      'Compare the body with the expected record: that of interface section 2.2, narrowed by your recordSchema.',
    issues: Object.freeze(
      issues.map(({ path, message }) =>
        Object.freeze({ path: Object.freeze(path.map(String)), message }),
      ),
    ),
  };
}

// The first word of a finding's code names the part of the callback that it is about.
const REFUSED_PART: Readonly<Record<RefusalError['code'], string>> = {
  INVALID_OPTION: 'secret-',
  RAW_BODY_REQUIRED: 'body-',
  BODY_TOO_LARGE: 'body-',
  BODY_INCOMPLETE: 'body-',
  MISSING_TIMESTAMP: 'timestamp-',
  INVALID_TIMESTAMP: 'timestamp-',
  TIMESTAMP_OUTSIDE_WINDOW: 'timestamp-',
  MISSING_SIGNATURE: 'signature-',
  INVALID_SIGNATURE: 'signature-',
  SIGNATURE_MISMATCH: 'secret-',
  INVALID_RECORD: 'record-',
};

/**
 * Puts what the verifier refused the callback for first, then the rest in the order of
 * {@link callbackFindingCodes}. Keeps the first finding of each code.
 */
function inOrder(
  findings: readonly CallbackFinding[],
  refusedFor: RefusalError['code'],
): readonly CallbackFinding[] {
  const part = REFUSED_PART[refusedFor];
  const isReason = ({ code }: CallbackFinding) => code.startsWith(part);
  return Object.freeze(
    callbackFindingCodes
      .flatMap((code) => findings.find((finding) => finding.code === code) ?? [])
      .map((finding) => {
        if (Object.hasOwn(finding, 'option')) Object.freeze(finding.option);
        return Object.freeze(finding);
      })
      .sort((left, right) => Number(isReason(right)) - Number(isReason(left))),
  );
}

/** What a signature is made of, with the possible readings of each part. */
interface SignedParts {
  readonly digest: Buffer | undefined;
  readonly timestamp: string | undefined;
  readonly keys: readonly KeyReading[];
  readonly bodies: readonly BodyReading[];
}

interface Search {
  /** The readings that make the signature match; absent if none within the limits do. */
  readonly explanation?: {
    readonly secretIndex: number;
    readonly body: Uint8Array;
    /** What differs from what was given. */
    readonly findings: readonly CallbackFinding[];
  };
  /** Without an explanation: what was tried. */
  readonly tried?: readonly string[];
}

/** Tries every reading of the secrets with every reading of the body, those with the fewest differences first. */
function findExplanation({ digest, timestamp, keys, bodies }: SignedParts): Search {
  if (digest === undefined || timestamp === undefined) return {};
  const prefix = Buffer.from(`${timestamp}.`);
  const candidates = bodies
    .flatMap((body) =>
      keys.map((key) => ({ key, body, findings: [...key.findings, ...body.findings] })),
    )
    .sort((left, right) => left.findings.length - right.findings.length);
  for (const { key, body, findings } of candidates) {
    const computed = createHmac('sha256', key.key).update(prefix).update(body.bytes).digest();
    if (timingSafeEqual(computed, digest)) {
      return { explanation: { secretIndex: key.secretIndex, body: body.bytes, findings } };
    }
  }
  const tried = [
    `${keys.length} readings of the signing secret: as given, without white space or quotes`,
    `${bodies.length} readings of the body: as given, decoded from base64, inflated, JSON as other programs write it`,
  ];
  return { tried: Object.freeze(tried) };
}
