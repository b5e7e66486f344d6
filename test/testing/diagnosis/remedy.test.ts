import { describe, expect, test } from 'vitest';
import { HOW_TO_GET_THE_BYTES } from '../../../src/callback/body.js';
import {
  type CallbackDiagnosis,
  type CallbackFindingCode,
  callbackFindingCodes,
} from '../../../src/testing/index.js';
import {
  type Case,
  COMPACT,
  diagnose,
  hmac,
  NOW_SECONDS,
  SECRET,
  sampleRecord,
  sign,
  TIMESTAMP,
} from './scene.js';

const record = sampleRecord();
const pretty = JSON.stringify(record, null, 2);
const accents = JSON.stringify(sampleRecord({ merchantPaymentReference: 'clé' }));
const slashes = JSON.stringify(sampleRecord({ merchantPaymentReference: 'a/b' }));
const html = JSON.stringify(sampleRecord({ merchantPaymentReference: '<a' }));
const key = Buffer.from('fbef3effffc1d2771f88e4fa903b5c6d', 'hex');
const digest = sign(COMPACT);
const late = String(NOW_SECONDS - 400);
const early = String(NOW_SECONDS + 400);

const withSecret = (signingSecret: string | Uint8Array, signer: string | Uint8Array = SECRET) => ({
  key: signer,
  options: { signingSecret },
});
const withSignature = (signature: unknown) => ({ signature });
const withSigned = (text: string) => ({ signature: hmac(text).toString('hex') });
const withBody = (rawBody: unknown, signed = COMPACT) => ({ signed, rawBody });
const withHeaders = (headers: Record<string, unknown>) => ({ headers });

/** A callback for every code, more where one code has several remedies. */
const cases: readonly (readonly [CallbackFindingCode, Case])[] = [
  ['secret-edge-space', withSecret(`${SECRET}\n`)],
  ['secret-edge-space', withSecret(`${SECRET}\n`, `${SECRET}\n`)],
  ['secret-quoted', withSecret(`"${SECRET}"`)],
  ['secret-assignment', withSecret(`S=${SECRET}`)],
  ['secret-url-encoded', withSecret('a%2Bb', 'a+b')],
  ['secret-escaped-newline', withSecret(`${SECRET}\\n`)],
  ['secret-escaped-newline', withSecret('a\\nb', 'a\nb')],
  ['secret-not-decoded', withSecret(key.toString('hex'), key)],
  ['secret-decoded', withSecret(key, key.toString('hex'))],
  ['secret-hex-case', withSecret('ABCD', 'abcd')],
  ['secret-prefixed', withSecret(`whsec_${SECRET}`)],
  ['secret-prefixed', withSecret(`whsec_${key.toString('base64')}`, key)],
  ['secret-binary-string', withSecret(key.toString('latin1'), key)],
  ['signature-missing', withHeaders({ 'x-timestamp': TIMESTAMP })],
  ['signature-missing', withHeaders({ 'x-timestamp': TIMESTAMP, signature: digest })],
  ['signature-repeated', withSignature([digest, digest])],
  ['signature-malformed', withSignature('none')],
  ['signature-edge-space', withSignature(` ${digest}`)],
  ['signature-quoted', withSignature(`"${digest}"`)],
  ['signature-prefixed', withSignature(`v1=${digest}`)],
  ['signature-encoding', { options: { signatureEncoding: 'base64' } }],
  ['signature-base64-of-hex', withSignature(Buffer.from(digest).toString('base64'))],
  ['signature-other-algorithm', withSignature('ab'.repeat(20))],
  ['signed-body-only', withSigned(COMPACT)],
  ['signed-without-stop', withSigned(TIMESTAMP + COMPACT)],
  ['signed-other-separator', withSigned(`${TIMESTAMP}:${COMPACT}`)],
  ['signed-body-first', withSigned(`${COMPACT}.${TIMESTAMP}`)],
  ['timestamp-signature-swapped', withHeaders({ 'x-timestamp': digest, 'x-signature': TIMESTAMP })],
  ['timestamp-missing', withHeaders({ 'x-signature': digest })],
  ['timestamp-missing', withHeaders({ 'x-signature': digest, timestamp: TIMESTAMP })],
  ['timestamp-repeated', { timestamp: `${TIMESTAMP}, ${TIMESTAMP}` }],
  ['timestamp-malformed', { timestamp: 'yesterday' }],
  ['timestamp-unit', { timestamp: `${TIMESTAMP}000` }],
  ['timestamp-iso-date', { timestamp: new Date(NOW_SECONDS * 1000).toISOString() }],
  ['timestamp-outside-window', { timestamp: late }],
  ['timestamp-outside-window', { timestamp: early }],
  ['timestamp-outside-window', { options: { now: () => Number.NaN } }],
  ['timestamp-respelled', withHeaders({ 'x-timestamp': `"${TIMESTAMP}"`, 'x-signature': digest })],
  ['body-not-raw', withBody(record)],
  ['body-not-raw', withBody({ status: 'failed' })],
  ['body-not-raw', withBody('[object Object]')],
  ['body-empty', withBody('')],
  ['body-base64', withBody(Buffer.from(COMPACT).toString('base64'))],
  ['body-double-encoded', withBody(JSON.stringify(COMPACT))],
  ['body-wrong-charset', withBody(Buffer.from(accents).toString('latin1'), accents)],
  ['body-wrong-charset', withBody(Buffer.from(accents, 'latin1'), accents)],
  ['body-decoded-with-loss', withBody(`${COMPACT}\ufffd`)],
  ['body-respaced', withBody(pretty)],
  [
    'body-keys-reordered',
    withBody(JSON.stringify(Object.fromEntries(Object.entries(record).sort()))),
  ],
  ['body-slash-escapes', withBody(slashes.replace('/', '\\/'), slashes)],
  ['body-unicode-escapes', withBody(accents.replace('é', '\\u00e9'), accents)],
  ['body-html-escapes', withBody(html.replace('<', '\\u003c'), html)],
  ['body-trailing-newline', withBody(`${COMPACT}\n`)],
  ['body-surrounding-space', withBody(` ${COMPACT} `)],
  ['body-line-endings', withBody(pretty.replaceAll('\n', '\r\n'), pretty)],
  ['body-byte-order-mark', withBody(`\ufeff${COMPACT}`)],
  ['record-invalid', { signed: '{}' }],
  ['unexplained', { key: 'other' }],
];

function remedyOf({ findings }: CallbackDiagnosis, wanted: CallbackFindingCode): string {
  const finding = findings.find(({ code }) => code === wanted);
  if (finding === undefined) throw new Error(`the callback has no finding ${wanted}`);
  return finding.remedy;
}

describe('a remedy is one sentence, not a choice of several things to do:', () => {
  test.each(cases)('%s (%#)', (code, callback) => {
    const remedy = remedyOf(diagnose(callback), code);
    // Framework by framework the same thing to do, after it.
    const sentence = remedy
      .replace(HOW_TO_GET_THE_BYTES, 'Get the bytes')
      .replace(/(?<=\.) Get the bytes\.$/, '');
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(sentence).not.toMatch(/; |\. [A-Z]|, or (?:leave|keep|set)/);
  });
});

test('every code has its remedy looked at', () => {
  expect(new Set(cases.map(([code]) => code))).toEqual(new Set(callbackFindingCodes));
});

test.each([
  ['behind', late, 'let now return the time it came at'],
  ['ahead of', early, "Compare this machine's clock"],
])('an X-Timestamp %s the clock has a remedy of its own', (_name, timestamp, remedy) => {
  expect(remedyOf(diagnose({ timestamp }), 'timestamp-outside-window')).toContain(remedy);
});
