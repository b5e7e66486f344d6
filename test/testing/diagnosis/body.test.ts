import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { CallbackFindingCode } from '../../../src/testing/index.js';
import vectors from '../../vectors/signatures.json' with { type: 'json' };
import {
  COMPACT,
  codesOf,
  diagnose,
  expectExplained,
  now,
  sampleRecord,
  sign,
  TIMESTAMP,
} from './scene.js';

const record = sampleRecord();
const reference = (merchantPaymentReference: string) => sampleRecord({ merchantPaymentReference });
/** What every escape touches. */
const rich = reference('clé/№1 🧾');
const compact = (value: object) => JSON.stringify(value);
const pretty = (value: object, indent: number) => JSON.stringify(value, null, indent);
const slashes = (text: string) => text.replaceAll('/', '\\/');
/** Made by hand: no program's escaping is trusted here. */
const escaped = (text: string) =>
  text.replaceAll('é', '\\u00e9').replaceAll('№', '\\u2116').replaceAll('🧾', '\\ud83e\\uddfe');
/** As json.dumps separates. No string of a record here holds either of the two. */
const spaced = (text: string) => text.replaceAll('","', '", "').replaceAll('":"', '": "');

/** Each program, and what it writes. */
const programs: readonly (readonly [program: string, text: string])[] = [
  ['JSON.stringify', compact(rich)],
  ['JSON.stringify(value, null, 2)', pretty(rich, 2)],
  ["Python's json.dumps", spaced(escaped(compact(rich)))],
  ["PHP's json_encode", slashes(escaped(compact(rich)))],
];

const pairs = programs.flatMap(([signer, signed]) =>
  programs
    .filter(([rewriter]) => rewriter !== signer)
    .map(([rewriter, rawBody]) => ({ signer, signed, rewriter, rawBody })),
);

describe('a body that was serialized again is explained:', () => {
  test.each(pairs)(
    'signed as by $signer, given as by $rewriter',
    ({ signer, signed, rewriter, rawBody }) => {
      for (const given of [rawBody, Buffer.from(rawBody)]) {
        const diagnosis = diagnose({ signed, rawBody: given });
        expectExplained(diagnosis, 'body-reserialized');
        expect(diagnosis.error?.code).toBe('SIGNATURE_MISMATCH');
        expect(diagnosis.findings[0]?.message).toContain(
          `the body is as ${rewriter} writes it, but the signature is that of JSON as ${signer} writes it.`,
        );
        expect(diagnosis.findings[0]?.remedy).toContain('express.raw(');
      }
    },
  );

  test.each([
    ['as jq writes it', `${pretty(record, 2)}\n`],
    ['by a program on Windows', `${pretty(record, 2)}\n`.replaceAll('\n', '\r\n')],
    ['with tabs', JSON.stringify(record, null, '\t')],
    ['with white space around it', `  ${COMPACT}\n\n`],
    ['with upper-case escapes', COMPACT.replaceAll('+', '\\u002B')],
  ])('pretty-printed or respelled %s', (_name, rawBody) => {
    expectExplained(diagnose({ rawBody }), 'body-reserialized');
  });
});

test('a body in base64 is explained, as AWS Lambda hands it over', () => {
  const base64 = Buffer.from(COMPACT).toString('base64');
  expectExplained(diagnose({ rawBody: base64 }), 'body-base64');
  expectExplained(diagnose({ rawBody: base64.replace(/.{76}/g, '$&\r\n') }), 'body-base64');
  const url = Buffer.from(COMPACT).toString('base64url');
  expectExplained(diagnose({ rawBody: url }), 'body-base64');
});

describe('a body that lost its bytes is suspected:', () => {
  test.each<[string, string | Uint8Array, CallbackFindingCode, string]>([
    ['empty', '', 'body-empty', 'something else has already read the request'],
    ['an object turned into text', '[object Object]', 'body-not-raw', 'turned into a string'],
    ['decoded with loss', compact(reference('cl\ufffd')), 'body-not-raw', '(U+FFFD)'],
    ['decoded with loss, as bytes', Buffer.from('cl\ufffd'), 'body-not-raw', '(U+FFFD)'],
  ])('%s', (_name, rawBody, code, message) => {
    const diagnosis = diagnose({ signed: COMPACT, rawBody });
    expect(diagnosis).not.toHaveProperty('secretIndex');
    expect(diagnosis.findings.map((finding) => finding.code)).toEqual([code, 'unexplained']);
    expect(diagnosis.findings[0]?.message).toContain(message);
  });
});

describe('a parsed object', () => {
  const _options = { signingSecret: 'other-secret' };

  test.each(programs)('is said to match when it was signed as by %s', (_name, signed) => {
    const diagnosis = diagnose({ signed, rawBody: JSON.parse(signed) });
    expectExplained(diagnosis, 'body-not-raw');
    expect(diagnosis.error?.code).toBe('RAW_BODY_REQUIRED');
    expect(diagnosis.findings[0]?.message).toContain('only the bytes were lost');
    expect(diagnosis.findings[0]?.remedy).toContain('express.raw(');
  });

  test('whose contents were not signed is refused as one', () => {
    const diagnosis = diagnose({ rawBody: { ...record, status: 'failed' } });
    expect(diagnosis).not.toHaveProperty('secretIndex');
    expect(diagnosis.findings.map(({ code }) => code)).toEqual(['body-not-raw', 'unexplained']);
    expect(diagnosis.findings[0]?.message).not.toContain('only the bytes were lost');
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  test.each([
    ['null', null],
    ['an object with a circle', circle],
    ['an object with a BigInt', { amount: 5n }],
  ])('is refused when it is %s', (_name, rawBody) => {
    const diagnosis = diagnose({ rawBody });
    expect(diagnosis.error?.code).toBe('RAW_BODY_REQUIRED');
    expect(diagnosis.findings[0]?.code).toBe('body-not-raw');
    expect(diagnosis.findings[0]?.remedy).toContain('express.raw(');
  });
});

test('a body of more than 256 KiB is used only as given', () => {
  const codes = (kibibytes: number, end: string) => {
    const signed = JSON.stringify({ text: 'a'.repeat(kibibytes * 1024) });
    return codesOf(diagnose({ signed, rawBody: signed + end }));
  };
  expect(codes(256, '\n')).toEqual(['unexplained']);
  expect(codes(256, '')).toEqual(['record-invalid']);
  expect(codes(250, '\n')).toEqual(['body-reserialized', 'record-invalid']);
});

describe('outside vectors', () => {
  const byName = (wanted: string) => {
    const vector = vectors.find(({ name }) => name === wanted);
    if (vector === undefined) throw new Error(`no vector is called ${wanted}`);
    return vector;
  };
  const diagnoseVector = (signed: string, captured: string) => {
    const vector = byName(signed);
    return diagnose({
      rawBody: Buffer.from(byName(captured).bodyHex, 'hex'),
      timestamp: vector.timestamp,
      signature: vector.base64,
      options: { signingSecret: Buffer.from(vector.secretHex, 'hex'), now },
    });
  };

  test.each<[string, string, ...CallbackFindingCode[]]>([
    ['a status record', 'the same record pretty-printed', 'body-reserialized'],
    ['the same record pretty-printed', 'a status record', 'body-reserialized'],
    ['the same record pretty-printed', 'CRLF line ends', 'body-reserialized'],
    ['a status record', 'a trailing line feed', 'body-reserialized'],
  ])('signed %s, captured %s', (signed, captured, ...codes) => {
    expectExplained(diagnoseVector(signed, captured), ...codes);
  });
});

describe('a body that was compressed after signing', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('by %s', (name, compress) => {
    const rawBody = compress(COMPACT);
    for (const given of [rawBody, Uint8Array.from(rawBody), Uint8Array.from(rawBody).buffer]) {
      const diagnosis = diagnose({ rawBody: given });
      expectExplained(diagnosis, 'body-compressed');
      expect(diagnosis.findings[0]?.message).toContain(name.replace(' at level 9', ''));
    }
  });

  test.each([
    ['an inflated body, whose bytes on the wire were signed', COMPACT, gzipSync(COMPACT)],
    ['compressed bytes that nothing matches', gzipSync(COMPACT), 'another'],
  ])('or %s: the content-encoding is suspected before the secret', (_name, rawBody, signed) => {
    const signature = sign(signed);
    const headers = {
      'x-timestamp': TIMESTAMP,
      'x-signature': signature,
      'content-encoding': 'gzip',
    };
    const { findings } = diagnose({ rawBody, headers });
    expect(findings.map(({ code }) => code).sort()).toEqual(['body-compressed', 'unexplained']);
    expect(JSON.stringify(findings)).toContain('The request has content-encoding gzip');
  });
});
