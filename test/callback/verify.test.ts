import { createSecretKey, generateKeyPairSync, webcrypto } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import * as callback from '../../src/callback/index.js';
import { schemaOf } from './contract/record-schema.js';
import { now, optionErrorOf, SECRET, sampleRequest } from './sample-callback.js';
import { describeVerifierContract } from './verifier-contract.js';

const { callbackKey, createCallbackVerifier, verifyCallback } = callback;

describeVerifierContract({
  name: 'verifyCallback, on node:crypto',
  verifyCallback,
  createCallbackVerifier,
  callbackKey,
});

describe('a KeyObject as signingSecret', () => {
  const secretKey = createSecretKey(SECRET, 'utf8');

  it('verifies', () => {
    const options = { signingSecret: ['other', secretKey], now };
    expect(verifyCallback(sampleRequest(), options).secretIndex).toBe(1);
  });

  it('is refused when it is empty', async () => {
    const empty = createSecretKey(Buffer.alloc(0));
    const error = await optionErrorOf(() => createCallbackVerifier({ signingSecret: empty }));
    expect(error.option).toBe('signingSecret');
    expect(error.message).toContain('must not be empty');
  });

  it.each(['publicKey', 'privateKey'] as const)('is refused when it is a %s', async (half) => {
    const key = generateKeyPairSync('ed25519')[half];
    const error = await optionErrorOf(() =>
      createCallbackVerifier({ signingSecret: [secretKey, key] }),
    );
    expect(error.option).toBe('signingSecret[1]');
    expect(error.message).toContain('or a secret KeyObject; received an object');
  });
});

describe('a signingSecret that the synchronous verifier cannot use', () => {
  it('is refused: a CryptoKey belongs to verifyCallbackAsync', async () => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await webcrypto.subtle.generateKey(algorithm, false, ['verify']);
    const options = { signingSecret: key as never };
    const error = await optionErrorOf(() => createCallbackVerifier(options));
    expect(error.message).toContain('or a secret KeyObject; received an object');
  });
});

describe('an asynchronous recordSchema', () => {
  it.each([
    ['accepts', async (value: unknown) => ({ value })],
    ['refuses', async () => ({ issues: [{ message: 'refused' }] })],
    // It must not end the process as an unhandled rejection; vitest would report it.
    ['fails', () => Promise.reject(new Error('a bug in the schema'))],
    // A Promise of a test runner's vm context is not this realm's. Taken for a result, it would be
    // one without issues: an acceptance.
    [
      'refuses by a promise of another realm',
      () => runInNewContext("Promise.resolve({ issues: [{ message: 'refused' }] })"),
    ],
  ])('is an error of the options when it %s', async (_what, validate) => {
    const options = { signingSecret: SECRET, now, recordSchema: schemaOf(validate as never) };
    const error = await optionErrorOf(() => verifyCallback(sampleRequest(), options));
    expect(error.option).toBe('recordSchema');
    expect(error.message).toContain('must validate synchronously, but returned a promise');
    expect(error.message).toContain('use verifyCallbackAsync');
  });
});
