import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallbackFindingCode } from '../../../src/testing/index.js';
import { anyText } from '../../any-text.js';
import { recordFields } from '../../callback/contract/arbitraries.js';
import { codesOf, diagnose, NOW_SECONDS, sampleRecord, sign } from './scene.js';

const records = recordFields.map((fields) => sampleRecord(fields));
const secrets = fc.oneof(
  fc
    .string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' })
    .filter((text) => text.trim() === text),
  fc.uint8Array({ minLength: 16, maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
);

interface Mangling {
  readonly code: CallbackFindingCode;
  readonly mangle: (text: string) => string | Buffer;
}

/** As json.dumps of Python separates, with a space after commas and colons. */
function dump(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(dump).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const written = Object.entries(value).map(
    ([key, inner]) => `${JSON.stringify(key)}: ${dump(inner)}`,
  );
  return `{${written.join(', ')}}`;
}

/** What is done to a body of JSON.stringify on its way. */
const manglings: readonly Mangling[] = [
  {
    code: 'body-reserialized',
    mangle: (text) => JSON.stringify(JSON.parse(text), null, 2),
  },
  { code: 'body-reserialized', mangle: (text) => escapeUnicode(dump(JSON.parse(text))) },
  { code: 'body-reserialized', mangle: (text) => escapeUnicode(text.replaceAll('/', '\\/')) },
  { code: 'body-base64', mangle: (text) => Buffer.from(text).toString('base64') },
];

/** As Python and PHP write what is not ASCII. */
function escapeUnicode(text: string): string {
  return text
    .split('')
    .map((unit) =>
      unit > '\x7f' ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit,
    )
    .join('');
}

const callbacks = fc.record({
  record: records,
  secret: secrets,
  mangling: fc.constantFrom(...manglings),
});

describe('for any record and secret', () => {
  test('what was done to the body after signing is the first finding', () => {
    fc.assert(
      fc.property(callbacks, ({ record, secret, mangling: { code, mangle } }) => {
        const signed = JSON.stringify(record);
        const rawBody = mangle(signed);
        fc.pre(rawBody.toString() !== signed);
        const diagnosis = diagnose({
          signed,
          rawBody,
          key: secret,
          options: { signingSecret: secret },
        });
        expect(codesOf(diagnosis)).toEqual([code]);
        expect(diagnosis.secretIndex).toBe(0);
        expect(diagnosis).not.toHaveProperty('payment');
      }),
      { numRuns: 150 },
    );
  });

  test('what was undone of the body after signing is the first finding', () => {
    const undoable = manglings.filter(({ code }) => code !== 'body-base64');
    fc.assert(
      fc.property(
        callbacks,
        fc.constantFrom(...undoable),
        ({ record, secret }, { code, mangle }) => {
          const rawBody = JSON.stringify(record);
          const signed = mangle(rawBody);
          fc.pre(signed !== rawBody);
          const diagnosis = diagnose({
            signed,
            rawBody,
            key: secret,
            options: { signingSecret: secret },
          });
          expect(codesOf(diagnosis)).toEqual([code]);
        },
      ),
      { numRuns: 150 },
    );
  });
});

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
