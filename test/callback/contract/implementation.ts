import type {
  CallbackRequest,
  VerifiedCallback,
  VerifyCallbackOptions,
} from '../../../src/callback/options.js';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import { now, SECRET } from '../sample-callback.js';

export type Secret = string | Uint8Array;

export type CommonOptions = VerifyCallbackOptions;

/** What the node:crypto and the WebCrypto implementation have in common. */
export interface Implementation {
  name: string;
  verifyCallback(
    request: CallbackRequest,
    options: CommonOptions,
  ): VerifiedCallback | Promise<VerifiedCallback>;
  createCallbackVerifier(
    options: CommonOptions,
  ): (request: CallbackRequest) => VerifiedCallback | Promise<VerifiedCallback>;
  callbackKey(payment: PaymentStatusRecord): string | Promise<string>;
}

export type Verify = (
  request: unknown,
  options?: Record<string, unknown>,
) => Promise<VerifiedCallback>;

/** Verifies with the sample's secret and clock, and whatever `options` say instead. Takes wrong types too. */
export function sampleVerifier({ verifyCallback }: Implementation): Verify {
  return async (request, options = {}) =>
    verifyCallback(
      request as CallbackRequest,
      { signingSecret: SECRET, now, ...options } as CommonOptions,
    );
}
