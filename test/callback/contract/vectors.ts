import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NOW_SECONDS } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

interface SignatureVector {
  name: string;
  secretHex: string;
  timestamp: string;
  bodyHex: string;
  hex: string;
  base64: string;
  base64url: string;
}

const vectors: SignatureVector[] = JSON.parse(
  readFileSync(new URL('../../vectors/signatures.json', import.meta.url), 'utf8'),
);

const encodings = ['hex', 'base64', 'base64url'] as const;

export function describeVectors(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);

  describe('vectors made by openssl and Python', () => {
    describe.each(vectors)('$name', (vector) => {
      const options = {
        signingSecret: Buffer.from(vector.secretHex, 'hex'),
        ...clockOf(vector.timestamp),
      };
      const body = Buffer.from(vector.bodyHex, 'hex');

      it.each(encodings)('matches in %s', async (encoding) => {
        const request = requestOf(body, vector.timestamp, vector[encoding]);
        for (const signatureEncoding of ['auto', encoding]) {
          expect(await verdict(() => verify(request, { ...options, signatureEncoding }))).toBe(
            isRecord(body) ? 'verified' : 'INVALID_RECORD',
          );
        }
      });
    });
  });
}

function requestOf(rawBody: Uint8Array, timestamp: string, signature: string) {
  return { rawBody, headers: { 'x-timestamp': timestamp, 'x-signature': signature } };
}

/** A clock that stands at the vector's timestamp, in the unit that its size gives away. */
function clockOf(timestamp: string): { now: () => number; timestampUnit: string } {
  const value = Number(timestamp);
  return value > NOW_SECONDS * 100
    ? { now: () => value, timestampUnit: 'milliseconds' }
    : { now: () => value * 1000, timestampUnit: 'seconds' };
}

/** The vectors' bodies that are records begin with `{"referenceNumber"`, however they are spaced. */
function isRecord(body: Buffer): boolean {
  return /^\{\s*"referenceNumber"/.test(body.toString('latin1'));
}

async function verdict(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'verified';
  } catch (error) {
    return (error as { code: string }).code;
  }
}
