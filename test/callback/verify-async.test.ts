import { createSecretKey } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import {
  callbackKey,
  createAsyncCallbackVerifier as createCallbackVerifier,
  verifyCallbackAsync as verifyCallback,
} from '../../src/callback/index.js';
import { schemaOf } from './contract/record-schema.js';
import {
  now,
  optionErrorOf,
  refusalOf,
  SECRET,
  sampleRecord,
  sampleRequest,
} from './sample-callback.js';
import { describeVerifierContract } from './verifier-contract.js';

describeVerifierContract({
  name: 'verifyCallbackAsync, on WebCrypto',
  verifyCallback,
  createCallbackVerifier,
  callbackKey,
});

const hmac = { name: 'HMAC', hash: 'SHA-256' };

function importKey(algorithm: object, usages: ('verify' | 'sign')[]) {
  return crypto.subtle.importKey('raw', Buffer.from(SECRET), algorithm as never, false, usages);
}

describe('a secret as text', () => {
  it('becomes a key that cannot be exported', async () => {
    const importing = vi.spyOn(crypto.subtle, 'importKey');
    await verifyCallback(sampleRequest(), { signingSecret: SECRET, now });
    const keys = await Promise.all(importing.mock.results.map(({ value }) => value));
    expect(keys).toHaveLength(1);
    expect(keys[0]).toMatchObject({ extractable: false, usages: ['verify'] });
  });
});

describe('a CryptoKey as signingSecret', () => {
  it('verifies', async () => {
    const key = await importKey(hmac, ['verify']);
    const options = { signingSecret: ['other', key], now };
    expect((await verifyCallback(sampleRequest(), options)).secretIndex).toBe(1);
  });

  it.each([
    ['of SHA-512', () => importKey({ name: 'HMAC', hash: 'SHA-512' }, ['verify'])],
    ['without the usage verify', () => importKey(hmac, ['sign'])],
  ])('is refused %s', async (_what, make) => {
    const signingSecret = (await make()) as never;
    const error = await optionErrorOf(() => createCallbackVerifier({ signingSecret }));
    expect(error.message).toContain(
      "an HMAC SHA-256 CryptoKey with the usage 'verify'; received an",
    );
  });
});

describe('a KeyObject of node:crypto as signingSecret', () => {
  it('verifies, so that one set of options serves every adapter', async () => {
    const signingSecret = createSecretKey(SECRET, 'utf8');
    expect((await verifyCallback(sampleRequest(), { signingSecret, now })).secretIndex).toBe(0);
    const other = createSecretKey(`${SECRET}.`, 'utf8');
    const refusal = await refusalOf(() =>
      verifyCallback(sampleRequest(), { signingSecret: other, now }),
    );
    expect(refusal.code).toBe('SIGNATURE_MISMATCH');
  });
});

describe('an asynchronous recordSchema', () => {
  const verifyWith = (validate: (value: unknown) => unknown) =>
    verifyCallback(sampleRequest(), {
      signingSecret: SECRET,
      now,
      recordSchema: schemaOf(validate as never),
    });

  it('is awaited when it accepts', async () => {
    expect((await verifyWith(async (value) => ({ value }))).payment).toEqual(sampleRecord());
  });

  it('is awaited when it refuses', async () => {
    const issues = [{ path: ['status'], message: 'is not known' }];
    const error = await refusalOf(() => verifyWith(async () => ({ issues })));
    expect(error).toMatchObject({ code: 'INVALID_RECORD', issues });
  });

  it('is awaited when its promise is from another realm', async () => {
    const issues = [{ path: ['status'], message: 'is not known' }];
    const validate = () => runInNewContext('Promise.resolve({ issues })', { issues });
    expect((await refusalOf(() => verifyWith(validate))).issues).toEqual(issues);
  });
});

describe('a buffer that the caller changes while the check is awaited', () => {
  it('changes nothing, whichever step is being awaited', async () => {
    const run = createCallbackVerifier({ signingSecret: ['other', SECRET], now });
    for (let turns = 0; turns < 6; turns += 1) {
      const request = sampleRequest({ body: Buffer.from(JSON.stringify(sampleRecord())) });
      const verification = run(request);
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      const forged = Buffer.from(JSON.stringify(sampleRecord({ status: 'void' })));
      (request.rawBody as Uint8Array).set(forged.subarray(0, request.rawBody.length));
      expect((await verification).payment).toEqual(sampleRecord());
    }
  });
});
