import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../any-text.js';
import { refusalOf, sampleRecord, sampleRequest } from '../sample-callback.js';
import { recordFields } from './arbitraries.js';
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
    it('any record comes back as it was sent, as text and as bytes', async () => {
      await fc.assert(
        fc.asyncProperty(recordFields, fc.boolean(), async (fields, asText) => {
          const json = JSON.stringify(sampleRecord(fields));
          const body = asText ? json : Buffer.from(json);
          const { payment } = await verify(sampleRequest({ body }));
          expect(payment).toEqual(JSON.parse(json));
        }),
      );
    });

    it('any bit flipped in the body is refused', async () => {
      const request = sampleRequest({ body: Buffer.from(JSON.stringify(sampleRecord())) });
      for (let bit = 0; bit < request.rawBody.length * 8; bit += 1) {
        const rawBody = flipBit(request.rawBody as Uint8Array, bit);
        const error = await refusalOf(() => verify({ ...request, rawBody }));
        expect(error.code).toBe('SIGNATURE_MISMATCH');
      }
    });

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

    it('any body, timestamp and secret round-trip', async () => {
      const secrets = fc
        .uint8Array({ minLength: 1, maxLength: 200 })
        .filter((bytes) => bytes.some((byte) => byte !== 0));
      const stamps = fc.integer({ min: 0, max: 99_999_999_999 });
      const bodies = fc.uint8Array({ maxLength: 300 });
      await fc.assert(
        fc.asyncProperty(bodies, stamps, secrets, async (body, seconds, secret) => {
          const request = sampleRequest({ body, secret, timestamp: String(seconds) });
          const options = { signingSecret: secret, now: () => seconds * 1000 };
          // Right in everything but the record, which is checked last.
          expect((await refusalOf(() => verify(request, options))).code).toBe('INVALID_RECORD');
        }),
      );
    });

    it('any text in both headers is refused as a callback that can’t be trusted', async () => {
      const anything = fc.oneof(anyText(), fc.string({ unit: 'grapheme' }), fc.base64String());
      await fc.assert(
        fc.asyncProperty(anything, anything, async (timestamp, signature) => {
          const { rawBody, headers } = sampleRequest();
          for (const changed of [
            { 'x-timestamp': timestamp, 'x-signature': signature },
            { ...headers, 'x-signature': signature },
            { ...headers, 'x-timestamp': timestamp },
          ]) {
            await refusalOf(() => verify({ rawBody, headers: changed }));
          }
        }),
        { numRuns: 500 },
      );
    });
  });
}
