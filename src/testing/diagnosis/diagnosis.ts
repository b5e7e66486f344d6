import type { CallbackVerificationErrorCode, Issue } from '../../errors.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';

/** The `code` of a {@link CallbackFinding}. */
export type CallbackFindingCode =
  | 'secret-edge-space'
  | 'secret-quoted'
  /** It was given as `NAME=value`, with or without `export`; the key is the value. */
  | 'secret-assignment'
  /** It was given with `%2B` and the like; the key is the text that they stand for. */
  | 'secret-url-encoded'
  | 'secret-escaped-newline'
  | 'secret-not-decoded'
  | 'secret-decoded'
  /** It is hex, and the key is the same text in the other case. */
  | 'secret-hex-case'
  | 'secret-prefixed'
  | 'secret-binary-string'
  | 'signature-missing'
  | 'signature-repeated'
  | 'signature-malformed'
  | 'signature-edge-space'
  | 'signature-quoted'
  | 'signature-prefixed'
  | 'signature-encoding'
  | 'signature-base64-of-hex'
  | 'signature-other-algorithm'
  | 'signed-body-only'
  | 'signed-without-stop'
  | 'signed-other-separator'
  | 'signed-body-first'
  /** X-Timestamp holds the signature and X-Signature the timestamp. */
  | 'timestamp-signature-swapped'
  | 'timestamp-missing'
  | 'timestamp-repeated'
  | 'timestamp-malformed'
  | 'timestamp-unit'
  | 'timestamp-iso-date'
  | 'timestamp-outside-window'
  | 'timestamp-respelled'
  | 'body-not-raw'
  | 'body-empty'
  | 'body-base64'
  | 'body-double-encoded'
  | 'body-wrong-charset'
  | 'body-decoded-with-loss'
  | 'body-respaced'
  | 'body-keys-reordered'
  | 'body-slash-escapes'
  | 'body-unicode-escapes'
  | 'body-html-escapes'
  | 'body-trailing-newline'
  | 'body-surrounding-space'
  | 'body-line-endings'
  | 'body-byte-order-mark'
  | 'record-invalid'
  | 'unexplained';

/** The codes of {@link CallbackFindingCode} as values, in the order in which findings are listed. */
export const callbackFindingCodes: readonly CallbackFindingCode[] = Object.freeze([
  'secret-edge-space',
  'secret-quoted',
  'secret-assignment',
  'secret-url-encoded',
  'secret-escaped-newline',
  'secret-not-decoded',
  'secret-decoded',
  'secret-hex-case',
  'secret-prefixed',
  'secret-binary-string',
  'signature-missing',
  'signature-repeated',
  'signature-malformed',
  'signature-edge-space',
  'signature-quoted',
  'signature-prefixed',
  'signature-encoding',
  'signature-base64-of-hex',
  'signature-other-algorithm',
  'signed-body-only',
  'signed-without-stop',
  'signed-other-separator',
  'signed-body-first',
  'timestamp-signature-swapped',
  'timestamp-missing',
  'timestamp-repeated',
  'timestamp-malformed',
  'timestamp-unit',
  'timestamp-iso-date',
  'timestamp-outside-window',
  'timestamp-respelled',
  'body-not-raw',
  'body-empty',
  'body-base64',
  'body-double-encoded',
  'body-wrong-charset',
  'body-decoded-with-loss',
  'body-respaced',
  'body-keys-reordered',
  'body-slash-escapes',
  'body-unicode-escapes',
  'body-html-escapes',
  'body-trailing-newline',
  'body-surrounding-space',
  'body-line-endings',
  'body-byte-order-mark',
  'record-invalid',
  'unexplained',
]);

/** One thing that is wrong with a callback or with how it was captured. Holds no secret and no signature. */
export interface CallbackFinding {
  /** Machine-readable: one of {@link callbackFindingCodes}. */
  readonly code: CallbackFindingCode;
  /** What is wrong. */
  readonly message: string;
  /** What to do about it: one thing. Options are named as `verifyCallback` calls them. */
  readonly remedy: string;
  /**
   * With `timestamp-outside-window`: how far X-Timestamp lies behind the clock, in seconds;
   * negative when it lies ahead. Left out when the clock gave no number.
   */
  readonly skewSeconds?: number | undefined;
  /** With `signature-missing` and `timestamp-missing`: names of headers that came and look alike. */
  readonly similarHeaders?: readonly string[] | undefined;
  /** With `record-invalid`: what is wrong with the record. */
  readonly issues?: readonly Issue[] | undefined;
  /** With `unexplained`: what was tried. */
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
   * - `explained`: from what the callback is once the findings are undone.
   * - `unexplained`: by nothing that was tried.
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

/** One way to read a part of the callback, and what would then be wrong with it as given. */
export interface Reading {
  readonly findings: readonly CallbackFinding[];
  /** By how many differences it is away from what was given; 0 is the part as given. */
  readonly weight: number;
}
