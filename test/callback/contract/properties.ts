import { describe, expect, it } from 'vitest';
import { refusalOf, sampleRequest } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  const index = Math.floor(bit / 8) % flipped.length;
  flipped[index] = (flipped[index] ?? 0) ^ (1 << (bit % 8));
  return flipped;
}

export function describeProperties(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);

  describe('properties', () => {
    it('any bit flipped in the digest is refused, in every encoding', async () => {
      const { rawBody, headers } = sampleRequest();
      const digest = Buffer.from(headers['x-signature'], 'hex');
      for (let bit = 0; bit < 256; bit += 1) {
        const flipped = Buffer.from(flipBit(digest, bit));
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          const changed = { ...headers, 'x-signature': flipped.toString(encoding) };
          const error = await refusalOf(() => verify({ rawBody, headers: changed }));
          expect(error.code).toBe('SIGNATURE_MISMATCH');
        }
      }
    });
  });
}
