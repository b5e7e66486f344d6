import {
  CallbackVerificationError,
  callbackKey,
  createAsyncCallbackVerifier,
  verifyCallbackAsync,
} from 'merchant-payments/callback';
import { equal, failsWith } from './assert.js';
import type { CaseGroup } from './case.js';
import { NOW_SECONDS, SECRET, sign } from './signed-callback.js';
import { verificationCases } from './verification.js';

const now = () => NOW_SECONDS * 1000;

export const callbackAsync: CaseGroup = {
  name: 'callback, async',
  cases: [
    ...verificationCases({
      verifyCallback: verifyCallbackAsync,
      createCallbackVerifier: createAsyncCallbackVerifier,
      callbackKey,
      CallbackVerificationError,
    }),
    {
      name: 'takes a CryptoKey that may verify, and refuses one that may not',
      async run() {
        const importKey = (usage: 'sign' | 'verify') =>
          crypto.subtle.importKey(
            'raw',
            new TextEncoder().encode(SECRET),
            { name: 'HMAC', hash: 'SHA-256' },
            false,
            [usage],
          );
        const signingSecret = await importKey('verify');
        const callback = await sign();
        equal((await verifyCallbackAsync(callback, { signingSecret, now })).payment.status, 'paid');
        const signing = await importKey('sign');
        await failsWith(
          () => verifyCallbackAsync(callback, { signingSecret: signing, now }),
          'INVALID_OPTION',
        );
      },
    },
  ],
};
