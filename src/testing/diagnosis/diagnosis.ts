import type { CallbackVerificationErrorCode, Issue } from '../../errors.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';

/** The codes of {@link CallbackFindingCode} as values, in the order in which findings are listed. */
export const callbackFindingCodes = Object.freeze([
  'secret-edge-space',
  'secret-quoted',
  'secret-encoded',
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
  'body-reserialized',
  'body-trailing-newline',
  'record-invalid',
  'unexplained',
] as const);

/** The `code` of a {@link CallbackFinding}. */
export type CallbackFindingCode = (typeof callbackFindingCodes)[number];

/** An option that fixes a {@link CallbackFinding}. */
export interface CallbackFindingOption {
  /** Its name. */
  readonly name: 'signatureEncoding' | 'timestampUnit' | 'now';
  /** What to set it to; absent for `now`, which depends on when the callback was received. */
  readonly value?: string | undefined;
}

/** One thing that is wrong with a callback or with how it was captured. Holds no secret and no signature. */
export interface CallbackFinding {
  /** Machine-readable: one of {@link callbackFindingCodes}. */
  readonly code: CallbackFindingCode;
  /** What is wrong. */
  readonly message: string;
  /** What to do about it: one thing. Options are named as `verifyCallback` calls them. */
  readonly remedy: string;
  /** The option of `verifyCallback` that the remedy sets, where it sets one. */
  readonly option?: CallbackFindingOption | undefined;
  /**
   * With `timestamp-outside-window`: how far X-Timestamp is behind the clock, in seconds; negative
   * when it is ahead. Absent when the clock returned no number.
   */
  readonly skewSeconds?: number | undefined;
  /** With `signature-missing` and `timestamp-missing`: received headers with a similar name. */
  readonly similarHeaders?: readonly string[] | undefined;
  /** With `record-invalid`: what is wrong with the record. */
  readonly issues?: readonly Issue[] | undefined;
  /** With `secret-other` and `unexplained`: what was tried. */
  readonly tried?: readonly string[] | undefined;
}

/** What {@link diagnoseCallback} found. Frozen, and fit for JSON. */
export interface CallbackDiagnosis {
  /** The verdict of `verifyCallback` on the same input. */
  readonly verified: boolean;
  /**
   * Whether X-Signature was made from this callback.
   *
   * - `right`: from the body, the headers and a secret exactly as given.
   * - `explained`: from what the callback is once the findings are fixed.
   * - `unexplained`: from nothing that was tried.
   * - `missing`: there is none.
   */
  readonly signature: 'right' | 'explained' | 'unexplained' | 'missing';
  /** Which of the given signing secrets it was made with, from 0. Absent when none is known. */
  readonly secretIndex?: number | undefined;
  /**
   * The record, when `signature` is `right`. Without `verified` it is authentic, but it may be a
   * replay: look at it, do not act on it.
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
  /** What is wrong; first what `verifyCallback` refused it for. Empty when `verified`. */
  readonly findings: readonly CallbackFinding[];
}
