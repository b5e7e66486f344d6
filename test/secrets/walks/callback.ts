import { webcrypto } from 'node:crypto';
import { inspect } from 'node:util';
import * as callbacks from '../../../src/callback/index.js';
import { failureOf, now } from '../../callback/sample-callback.js';
import { customer, signingBytes, signingText } from '../planted.js';
import type { See, Walk, Walks } from '../watch.js';
import { body, record, refusals, schemaThat, signed, signingSecrets } from './signed-callback.js';

type Verify = (request: never, options: never) => unknown;
type CreateVerifier = (options: never) => (request: never) => unknown;

/** A callback that is right and every one that is not, with the secret in each form. */
function everyVerdict(verify: Verify): Record<string, Walk> {
  const scenes = Object.entries(signingSecrets).map(([how, secret]): [string, Walk] => [
    `with the secret ${how}`,
    async (see) => {
      const given = { now, signingSecret: ['of another account', secret] };
      see(
        'the verified callback',
        await verify(signed(secret) as never, given as never),
        'the payment of a callback',
      );
      for (const [code, request] of refusals(secret)) {
        const options = { now, signingSecret: secret } as never;
        const error = await failureOf(() => verify(request as never, options));
        see(`the ${code}`, expectCode(code, error));
      }
    },
  ]);
  return {
    ...Object.fromEntries(scenes),
    "with a schema of the merchant's": async (see) => {
      const quoting = schemaThat(() => ({ issues: [{ message: `not ${customer}`, path: [] }] }));
      const options = { now, signingSecret: signingText, recordSchema: quoting } as never;
      const error = await failureOf(() => verify(signed(signingText) as never, options));
      see('the error', expectCode('INVALID_RECORD', error), "the merchant's own schema");
    },
    'with options that can not be right': async (see) => {
      for (const options of wrongOptions) {
        const request = signed(signingText) as never;
        const error = await failureOf(() => verify(request, { now, ...options } as never));
        see(`the error for ${inspect(options)}`, expectCode('INVALID_OPTION', error));
      }
    },
  };
}

const wrongOptions: readonly object[] = [
  { signingSecret: ['good', `${signingText}\n`] },
  { signingSecret: { key: signingText } },
  { signingSecret: [[signingBytes]] },
  { signingSecret: signingText, toleranceSeconds: signingText },
  { signingSecret: signingText, now: signingText },
];

function expectCode(code: string, error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code === code) return error;
  throw new Error(`expected ${code}`, { cause: error });
}

/** The verifier before and after it was used. */
function printing(create: CreateVerifier): Walk {
  return async (see) => {
    for (const [how, secret] of Object.entries(signingSecrets)) {
      const verifier = create({ now, signingSecret: [secret, signingBytes] } as never);
      see(`a new verifier, the secret ${how}`, verifier);
      await verifier(signed(secret) as never);
      see(`a verifier that was used, the secret ${how}`, verifier);
    }
  };
}

const asCreated =
  (create: CreateVerifier): Verify =>
  (request, options) =>
    create(options)(request);

async function keys(see: See, callbackKey: (payment: never) => unknown): Promise<void> {
  see('the key', await callbackKey(record as never));
  const error = await failureOf(() => callbackKey({ ...record, status: [customer] } as never));
  see('the error', expectCode('INVALID_RECORD', error));
}

async function withCryptoKey(see: See): Promise<void> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await webcrypto.subtle.importKey('raw', signingBytes, algorithm, true, ['verify']);
  const verifier = callbacks.createAsyncCallbackVerifier({ now, signingSecret: key });
  const verified = await verifier(signed(signingBytes));
  see('the verified callback', verified, 'the payment of a callback');
  see('the error', await failureOf(() => verifier({ ...signed(signingBytes), rawBody: body + 1 })));
  see('the verifier', verifier);
}

export const callbackWalks: Walks = {
  '. verifyCallback': everyVerdict(callbacks.verifyCallback),
  '. createCallbackVerifier': {
    ...everyVerdict(asCreated(callbacks.createCallbackVerifier)),
    'when it is printed': printing(callbacks.createCallbackVerifier),
  },
  '. callbackKey': { 'and its errors': (see) => keys(see, callbacks.callbackKey) },
  '. verifyCallbackAsync': everyVerdict(callbacks.verifyCallbackAsync),
  '. createAsyncCallbackVerifier': {
    ...everyVerdict(asCreated(callbacks.createAsyncCallbackVerifier)),
    'when it is printed': printing(callbacks.createAsyncCallbackVerifier),
    'with a CryptoKey': withCryptoKey,
  },
};
