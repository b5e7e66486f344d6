import { decodeBody, parseStatusRecord } from '../../callback/checks.js';
import { findContentEncoding } from '../../callback/headers.js';
import {
  type CallbackRequest,
  importSecrets,
  type SigningSecret,
  type VerifiedCallback,
  type VerifyCallbackOptions,
  verifyRules,
} from '../../callback/options.js';
import { verifyCallback } from '../../callback/verify.js';
import { CallbackVerificationError, InvalidOptionError } from '../../errors.js';
import { resolveOptions } from '../../protocol/options.js';
import { signatureEncodings } from '../../protocol/wire.js';
import type { CallbackDiagnosis, CallbackFinding, CallbackFindingCode } from './diagnosis.js';
import {
  captureBody,
  edgeSpace,
  type KeyReading,
  listKeyReadings,
  otherSecret,
  type Reading,
  trimSecret,
  unknownCompression,
} from './readings.js';

/**
 * Explains why `verifyCallback` refuses a captured callback, and what to do about it: a body that was
 * parsed and serialized again, a secret that was read wrongly, a clock that is off (interface section 5.2).
 *
 * The verdict is that of `verifyCallback`. What it refuses is undone, and the rest is verified again. Where the signature
 * does not match, the forms are tried that the secret and the body may have had when they were signed, those with the
 * fewest differences first. A body of more than 256 KiB is used only as given. The result contains no part of a
 * secret, and no signature that would match.
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
  const signingSecret = resolved.signingSecret as VerifyCallbackOptions['signingSecret'];
  // Each verification must see the same instant.
  const given = { ...resolved, signingSecret, now: () => nowMs };
  const secrets = importSecrets(signingSecret, (secret) => secret);
  const trimmed = secrets.map(trimSecret);
  const policy = {
    ...given,
    signingSecret: Array.isArray(signingSecret) ? trimmed : (trimmed[0] as SigningSecret),
  };
  const verdict = verify(request, policy);
  if (verdict instanceof InvalidOptionError) throw verdict;
  // White space around a secret is an invalid option of the verifier. Here it is a finding.
  const isSpaced = secrets.some((secret, index) => secret !== trimmed[index]);
  const refusal = isSpaced ? verify(request, given) : verdict;
  if (!(refusal instanceof Error)) {
    const { payment, secretIndex } = refusal;
    return { verified: true, secretIndex, payment, findings: [] };
  }
  const { findings, ...explanation } = explain(request, policy, secrets);
  const { code, message } = refusal;
  // What the verifier refuses before it looks at the headers comes first. Otherwise findings are in its order.
  const isFirst = (one: CallbackFinding): boolean =>
    code === 'RAW_BODY_REQUIRED' && one.code === 'body-not-raw';
  const others = findings.filter((one) => !isFirst(one) && !(isSpaced && one === edgeSpace));
  return {
    verified: false,
    ...explanation,
    error: { code, message },
    findings: [...(isSpaced ? [edgeSpace] : []), ...findings.filter(isFirst), ...others],
  };
}

function verify(
  request: CallbackRequest,
  policy: VerifyCallbackOptions,
): VerifiedCallback | CallbackVerificationError | InvalidOptionError {
  try {
    return verifyCallback(request, policy);
  } catch (error) {
    if (error instanceof CallbackVerificationError) return error;
    if (error instanceof InvalidOptionError && error.option.startsWith('signingSecret')) {
      return error;
    }
    throw error;
  }
}

type Verdict = ReturnType<typeof verify>;
type Attempt = (policy: VerifyCallbackOptions, rawBody?: Uint8Array) => Verdict;
type Explanation = Pick<CallbackDiagnosis, 'secretIndex' | 'payment' | 'findings'>;

function explain(
  { headers, rawBody: given }: CallbackRequest,
  policy: VerifyCallbackOptions,
  secrets: readonly SigningSecret[],
): Explanation {
  const body = captureBody(given);
  const attempt: Attempt = (changed, rawBody = body.bytes) => verify({ rawBody, headers }, changed);
  const { faults, undone } = findHeaderFaults(policy, attempt);
  if (undone === undefined) return { findings: [...faults, ...body.faults] };
  const match = findMatch(listKeyReadings(secrets), body.readings, (signingSecret, bytes) =>
    attempt({ ...undone, signingSecret }, bytes),
  );
  if (match === undefined) {
    const encoding = findContentEncoding(headers);
    const ofBody = [...body.faults, ...(encoding ? [unknownCompression(encoding)] : [])];
    // Visible damage is suspected before the secret.
    const isWhole = ofBody.length === 0 && isRecord(body.bytes);
    const cause = isWhole ? otherSecret : unexplained;
    return { findings: [...faults, ...ofBody, cause] };
  }
  const { verdict, secretIndex } = match;
  const findings = [...faults, ...match.findings];
  if (verdict instanceof Error) {
    return { secretIndex, findings: [...findings, recordInvalid(verdict)] };
  }
  const isExact = findings.every(({ code }) => code.startsWith('timestamp-'));
  return { secretIndex, ...(isExact && { payment: verdict.payment }), findings };
}

interface HeaderFaults {
  readonly faults: readonly CallbackFinding[];
  /** The options by which the headers pass; absent when none do. */
  readonly undone?: VerifyCallbackOptions;
}

/** Undoes one refusal of the headers after the other. */
function findHeaderFaults(
  policy: VerifyCallbackOptions,
  attempt: Attempt,
  known: readonly CallbackFinding[] = [],
): HeaderFaults {
  const verdict = attempt(policy);
  const fault = verdict instanceof Error ? findHeaderFault(verdict, policy, attempt) : undefined;
  if (fault === undefined) return { faults: known, undone: policy };
  const faults = [...known, fault.finding];
  return fault.undone === undefined ? { faults } : findHeaderFaults(fault.undone, attempt, faults);
}

const HEADERS = 'Pass all headers as received: a proxy or the capture dropped or renamed';

function findHeaderFault(
  { code: refusedFor, message, ...details }: Error & { code: string; skewSeconds?: number },
  policy: VerifyCallbackOptions,
  attempt: Attempt,
): { finding: CallbackFinding; undone?: VerifyCallbackOptions } | undefined {
  const passes = (changed: VerifyCallbackOptions): boolean => {
    const verdict = attempt(changed);
    return !(verdict instanceof Error) || verdict.code !== refusedFor;
  };
  const fault = (code: CallbackFindingCode, remedy: string): CallbackFinding => ({
    code,
    message: `${message}.`,
    remedy,
  });
  switch (refusedFor) {
    case 'MISSING_TIMESTAMP':
      return { finding: fault('timestamp-missing', `${HEADERS} X-Timestamp.`) };
    case 'MISSING_SIGNATURE':
      return { finding: fault('signature-missing', `${HEADERS} X-Signature.`) };
    case 'INVALID_TIMESTAMP': {
      const value = policy.timestampUnit === 'seconds' ? 'milliseconds' : 'seconds';
      const undone = { ...policy, timestampUnit: value } as const;
      if (!passes(undone)) return { finding: fault('timestamp-malformed', ONE_TIMESTAMP) };
      const finding: CallbackFinding = {
        code: 'timestamp-unit',
        message: `X-Timestamp is in ${value}, but ${policy.timestampUnit} are expected.`,
        remedy: `If the service sends ${value}, set timestampUnit: '${value}'.`,
      };
      return { finding, undone };
    }
    case 'TIMESTAMP_OUTSIDE_WINDOW': {
      const { skewSeconds = 0 } = details;
      const finding = fault('timestamp-outside-window', skewSeconds < 0 ? COMPARE_CLOCKS : SET_NOW);
      const undone = {
        ...policy,
        toleranceSeconds: Number.MAX_SAFE_INTEGER,
        now: Date.now,
      };
      return { finding: { ...finding, skewSeconds }, undone };
    }
    case 'INVALID_SIGNATURE': {
      const value = signatureEncodings.find((signatureEncoding) =>
        passes({ ...policy, signatureEncoding }),
      );
      if (value === undefined) return { finding: fault('signature-malformed', ONE_DIGEST) };
      const finding: CallbackFinding = {
        code: 'signature-encoding',
        message: `X-Signature is a digest in ${value}, but signatureEncoding is '${policy.signatureEncoding}'.`,
        remedy: `Set signatureEncoding: '${value}'.`,
      };
      return { finding, undone: { ...policy, signatureEncoding: value } };
    }
    default:
      return undefined;
  }
}

const ONE_TIMESTAMP =
  'Send X-Timestamp once, as Unix seconds in digits only: Math.floor(date.getTime() / 1000).';
const ONE_DIGEST =
  'Pass X-Signature once and as received: the digest alone (64 characters in hex, 43 or 44 in base64), without white space, quotes or a prefix such as sha256=.';
const COMPARE_CLOCKS = "Compare this machine's clock with a time server (timedatectl, w32tm).";
const SET_NOW = 'For a captured callback, make now return the time it was received.';

const unexplained: CallbackFinding = {
  code: 'unexplained',
  message:
    'No known change makes the signature match: the body was damaged or changed in an unknown way, the callback was signed with another secret, or it is forged. Do not act on this callback.',
  remedy: 'Capture a callback again, with the bytes of its body as received, and verify that.',
};

const recordInvalid = ({ message }: Error): CallbackFinding => ({
  code: 'record-invalid',
  message: `${message}.`,
  remedy:
    'Compare the body with the expected record: that of interface section 2.2, narrowed by your recordSchema.',
});

function isRecord(bytes: Uint8Array): boolean {
  try {
    parseStatusRecord(decodeBody(bytes));
    return true;
  } catch {
    return false;
  }
}

/** Tries every reading of the secrets with every reading of the body, those with the fewest differences first. */
function findMatch(
  keys: readonly KeyReading[],
  bodies: readonly Reading[],
  attempt: (key: SigningSecret, bytes: Uint8Array) => Verdict,
): { verdict: Verdict; secretIndex: number; findings: CallbackFinding[] } | undefined {
  const candidates = bodies
    .flatMap((body) =>
      keys.map((key) => ({ key, body, findings: [...key.findings, ...body.findings] })),
    )
    .sort((left, right) => left.findings.length - right.findings.length);
  for (const { key, body, findings } of candidates) {
    const verdict = attempt(key.bytes, body.bytes);
    const isRefused = verdict instanceof Error && verdict.code !== 'INVALID_RECORD';
    if (!isRefused) return { verdict, secretIndex: key.secretIndex, findings };
  }
  return undefined;
}
