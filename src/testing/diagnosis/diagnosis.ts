import type { CallbackVerificationErrorCode } from '../../errors.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';

/** The codes of {@link CallbackFindingCode} as values. */
export const callbackFindingCodes = Object.freeze([
  'secret-edge-space',
  'secret-quoted',
  'secret-other',
  'signature-missing',
  'signature-malformed',
  'signature-encoding',
  'timestamp-missing',
  'timestamp-malformed',
  'timestamp-unit',
  'timestamp-outside-window',
  'body-not-raw',
  'body-empty',
  'body-base64',
  'body-compressed',
  'body-reserialized',
  'record-invalid',
  'unexplained',
] as const);

/** The `code` of a {@link CallbackFinding}. */
export type CallbackFindingCode = (typeof callbackFindingCodes)[number];

/** One problem of a callback or of its capture. Contains no secret and no signature. */
export interface CallbackFinding {
  /** Machine-readable: one of {@link callbackFindingCodes}. */
  readonly code: CallbackFindingCode;
  /** What is wrong. */
  readonly message: string;
  /** The one thing to do about it. Names options as `verifyCallback` does. */
  readonly remedy: string;
  /**
   * With `timestamp-outside-window`: how far X-Timestamp is behind the clock, in seconds; negative
   * when it is ahead.
   */
  readonly skewSeconds?: number | undefined;
}

/** The result of {@link diagnoseCallback}. Plain: it can be written as JSON. */
export interface CallbackDiagnosis {
  /** The verdict of `verifyCallback` on the same input. */
  readonly verified: boolean;
  /**
   * Which of the given signing secrets made the signature, from 0; of this callback, or of what it is once the findings
   * are fixed. Absent when nothing that was tried explains the signature.
   */
  readonly secretIndex?: number | undefined;
  /**
   * The record, when the signature matches exactly as given. If it is not `verified`, it is authentic but may be a
   * replay: do not act on it.
   */
  readonly payment?: PaymentStatusRecord | undefined;
  /** What `verifyCallback` throws. Absent when `verified`. */
  readonly error?:
    | {
        /** The error's code. */
        readonly code: CallbackVerificationErrorCode | 'INVALID_OPTION';
        /** The error's message. */
        readonly message: string;
      }
    | undefined;
  /** What is wrong, the reason of the refusal first. Empty when `verified`. */
  readonly findings: readonly CallbackFinding[];
}
