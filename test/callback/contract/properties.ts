import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/errors.js';
import { anyText } from '../../any-text.js';
import {
  failureOf,
  NOW_SECONDS,
  now,
  refusalOf,
  SECRET,
  sampleRecord,
  sampleRequest,
  sign,
} from '../sample-callback.js';
import { deliveries, recordFields } from './arbitraries.js';
import { type Implementation, sampleVerifier } from './implementation.js';
import { referenceVerdict } from './reference-verifier.js';

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
          const text = JSON.stringify(sampleRecord(fields));
          const body = asText ? text : Buffer.from(text);
          const { payment } = await verify(sampleRequest({ body }));
          expect(payment).toEqual(JSON.parse(text));
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

    it('any bit flipped in the text of the timestamp is refused', async () => {
      const { rawBody, headers } = sampleRequest();
      const text = Buffer.from(headers['x-timestamp'], 'latin1');
      for (let bit = 0; bit < text.length * 8; bit += 1) {
        const timestamp = Buffer.from(flipBit(text, bit)).toString('latin1');
        const changed = { ...headers, 'x-timestamp': timestamp };
        const error = await refusalOf(() => verify({ rawBody, headers: changed }));
        expect(['INVALID_TIMESTAMP', 'TIMESTAMP_OUTSIDE_WINDOW', 'SIGNATURE_MISMATCH']).toContain(
          error.code,
        );
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

    it('any value whatever for headers and body is refused by one of this package’s errors', async () => {
      const anything = fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withSet: true,
        withTypedArray: true,
        key: fc.oneof(fc.constantFrom('x-timestamp', 'X-Signature', '__proto__'), fc.string()),
      });
      await fc.assert(
        fc.asyncProperty(anything, anything, async (headers, rawBody) => {
          for (const request of [
            { rawBody, headers },
            { rawBody: '', headers },
          ]) {
            const error = await failureOf(() => verify(request));
            if (error instanceof InvalidOptionError) expect(error.option).toBe('headers');
            else await refusalOf(() => Promise.reject(error));
          }
        }),
        { numRuns: 500 },
      );
    });

    it('any text in both headers is refused as a callback that can’t be trusted', async () => {
      const text = fc.oneof(anyText(), fc.string({ unit: 'grapheme' }), fc.base64String());
      await fc.assert(
        fc.asyncProperty(text, text, async (timestamp, signature) => {
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

    it('accepts exactly what a naive verifier accepts', async () => {
      const verdicts = { accepted: 0, refused: 0 };
      await fc.assert(
        fc.asyncProperty(deliveries, async (delivery) => {
          const expected = referenceVerdict(delivery, {
            toleranceSeconds: 300,
            nowSeconds: NOW_SECONDS,
          });
          const options = { signingSecret: delivery.secrets, now };
          if (expected.accepted) {
            verdicts.accepted += 1;
            const { secretIndex, payment } = await verify(delivery, options);
            expect({ secretIndex, payment }).toEqual({
              secretIndex: expected.secretIndex,
              payment: expected.record,
            });
          } else {
            verdicts.refused += 1;
            await refusalOf(() => verify(delivery, options));
          }
        }),
        { numRuns: 2000 },
      );
      // The generator has to reach both sides, or the comparison proves nothing.
      const all = verdicts.accepted + verdicts.refused;
      expect(verdicts.accepted / all).toBeGreaterThan(0.05);
      expect(verdicts.refused / all).toBeGreaterThan(0.05);
    });

    it('a signature of another body is refused', async () => {
      await fc.assert(
        fc.asyncProperty(fc.string(), fc.string(), async (one, other) => {
          fc.pre(one !== other);
          const request = sampleRequest({ body: one });
          request.headers['x-signature'] = sign(other, { secret: SECRET });
          const error = await refusalOf(() => verify(request));
          expect(error.code).toBe('SIGNATURE_MISMATCH');
        }),
      );
    });
  });
}
