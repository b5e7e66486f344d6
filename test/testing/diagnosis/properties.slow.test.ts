import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../any-text.js';
import { recordFields } from '../../callback/contract/arbitraries.js';
import { diagnose, NOW_SECONDS, sampleRecord, sign } from './scene.js';

const _records = recordFields.map((fields) => sampleRecord(fields));
const secrets = fc.oneof(
  fc
    .string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' })
    .filter((text) => text.trim() === text),
  fc.uint8Array({ minLength: 16, maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
);

describe('for anything at all', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    anyText({ maxLength: 200 }),
    fc.json(),
    fc.anything(),
  );
  const values = fc.oneof(
    fc.string(),
    anyText(),
    fc.constantFrom(String(NOW_SECONDS), sign('{}'), sign('')),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.anything(),
  );
  const names = fc.oneof(
    fc.constantFrom('x-signature', 'X-Timestamp', 'x-timestamp', 'signature', '__proto__'),
    fc.string(),
  );

  test('it never throws, and verifies only what node:crypto does', () => {
    fc.assert(
      fc.property(anything, fc.dictionary(names, values), secrets, (rawBody, headers, secret) => {
        const diagnosis = diagnose({ rawBody, headers, options: { signingSecret: secret } });
        expect(diagnosis.verified).toBe(isSigned(rawBody, headers, secret));
        expect(diagnosis.findings.length > 0).toBe(!diagnosis.verified);
      }),
      { numRuns: 300 },
    );
  });

  function isSigned(
    rawBody: unknown,
    headers: Record<string, unknown>,
    secret: string | Buffer,
  ): boolean {
    const { 'x-timestamp': timestamp, 'x-signature': signature } = headers;
    if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) return false;
    if (typeof timestamp !== 'string' || typeof signature !== 'string') return false;
    const digest = createHmac('sha256', secret)
      .update(`${timestamp}.`)
      .update(rawBody)
      .digest('hex');
    return digest === signature;
  }
});
