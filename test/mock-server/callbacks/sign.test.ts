import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSigningKey, signCallbackBytes } from '../../../src/mock-server/callbacks/sign.js';
import vectors from '../../vectors/signatures.json' with { type: 'json' };

describe('the signer', () => {
  describe.each(vectors)('of $name', ({ secretHex, timestamp, bodyHex, ...expected }) => {
    test.each(['hex', 'base64', 'base64url'] as const)(
      'agrees with openssl and Python in %s',
      (encoding) => {
        const key = createSigningKey('signingSecret', Buffer.from(secretHex, 'hex'));
        const body = Buffer.from(bodyHex, 'hex');
        expect(signCallbackBytes({ timestamp, body, key, encoding })).toBe(expected[encoding]);
      },
    );
  });
});

describe('a signing secret', () => {
  const signature = (secret: unknown) =>
    signCallbackBytes({
      timestamp: '1',
      body: Buffer.from('{}'),
      key: createSigningKey('signingSecret', secret),
      encoding: 'hex',
    });

  test('gives the same signature as text, as bytes and as a KeyObject', () => {
    const bytes = Buffer.from('clé-secrète');
    expect(signature(new Uint8Array(bytes))).toBe(signature('clé-secrète'));
    expect(signature(createSecretKey(bytes))).toBe(signature('clé-secrète'));
  });

  test.each([
    ['an empty string', ''],
    ['a string with a line feed at its end', 'secret\n'],
    ['an empty KeyObject', createSecretKey(Buffer.alloc(0))],
    ['a public key', generateKeyPairSync('ed25519').publicKey],
  ])('is refused when it is %s', (_, secret) => {
    expect(() => createSigningKey('signingSecret', secret)).toThrowError(
      expect.objectContaining({ code: 'INVALID_OPTION', option: 'signingSecret' }),
    );
  });

  test('never appears in the error that refuses it', () => {
    expect(() => createSigningKey('signingSecret', 'planted-secret ')).toThrowError(
      expect.objectContaining({ message: expect.not.stringContaining('planted-secret') }),
    );
  });
});
