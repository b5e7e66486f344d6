import { type SignedCallback, signCallback } from 'merchant-payments/testing';
import type { CallbackInput } from './callback-options.js';

/** @throws {InvalidOptionError} for a signing secret that can't be right */
export function signInput(input: CallbackInput): SignedCallback {
  const { body, record, signingSecret, timestamp, signatureEncoding } = input;
  return signCallback({ payment: body ?? record, signingSecret, timestamp, signatureEncoding });
}
