import * as api from 'merchant-payments/callback/web';
import { equal, failsWith } from './assert.js';
import type { CaseGroup } from './case.js';
import { NOW_SECONDS, SECRET, sign } from './signed-callback.js';
import { verificationCases } from './verification.js';

const now = () => NOW_SECONDS * 1000;

export const callbackWeb: CaseGroup = {
  name: 'callback/web',
  cases: [
    ...verificationCases(api),
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
        equal((await api.verifyCallback(callback, { signingSecret, now })).payment.status, 'paid');
        const signing = await importKey('sign');
        await failsWith(
          () => api.verifyCallback(callback, { signingSecret: signing, now }),
          'INVALID_OPTION',
        );
      },
    },
    {
      name: 'waits for a schema of the user that is asynchronous',
      async run() {
        const recordSchema = {
          '~standard': {
            version: 1,
            vendor: 'test',
            validate: async () => ({ issues: [{ message: 'must be otherwise' }] }),
          },
        } as const;
        const callback = await sign();
        const options = { signingSecret: SECRET, now, recordSchema };
        await failsWith(() => api.verifyCallback(callback, options), 'INVALID_RECORD');
      },
    },
  ],
};
