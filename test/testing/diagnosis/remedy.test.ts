import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { HOW_TO_GET_THE_BYTES } from '../../../src/callback/refusals.js';
import {
  type CallbackDiagnosis,
  type CallbackFindingCode,
  callbackFindingCodes,
} from '../../../src/testing/index.js';
import {
  type Case,
  COMPACT,
  diagnose,
  NOW_SECONDS,
  SECRET,
  sampleRecord,
  sign,
  TIMESTAMP,
} from './scene.js';

const record = sampleRecord();
const digest = sign(COMPACT);
const late = String(NOW_SECONDS - 400);
const early = String(NOW_SECONDS + 400);

const withSecret = (signingSecret: string | Uint8Array, signer: string | Uint8Array = SECRET) => ({
  key: signer,
  options: { signingSecret },
});
const withBody = (rawBody: unknown, signed = COMPACT) => ({ signed, rawBody });

/** A callback for every code, more where one code has several remedies. */
const cases: readonly (readonly [CallbackFindingCode, Case])[] = [
  ['secret-edge-space', withSecret(`${SECRET}\n`)],
  ['secret-quoted', withSecret(`"${SECRET}"`)],
  ['secret-other', { key: 'other' }],
  ['signature-missing', { headers: { 'x-timestamp': TIMESTAMP } }],
  ['signature-malformed', { signature: 'none' }],
  ['signature-malformed', { signature: [digest, digest] }],
  ['signature-encoding', { options: { signatureEncoding: 'base64' } }],
  ['timestamp-missing', { headers: { 'x-signature': digest } }],
  ['timestamp-malformed', { timestamp: 'yesterday' }],
  ['timestamp-malformed', { timestamp: `${TIMESTAMP}, ${TIMESTAMP}` }],
  ['timestamp-unit', { timestamp: `${TIMESTAMP}000` }],
  ['timestamp-outside-window', { timestamp: late }],
  ['timestamp-outside-window', { timestamp: early }],
  ['body-not-raw', withBody(record)],
  ['body-not-raw', withBody({ status: 'failed' })],
  ['body-not-raw', withBody('[object Object]')],
  ['body-not-raw', withBody(`${COMPACT}\ufffd`)],
  ['body-empty', withBody('')],
  ['body-base64', withBody(Buffer.from(COMPACT).toString('base64'))],
  ['body-compressed', withBody(gzipSync(COMPACT))],
  ['body-reserialized', withBody(JSON.stringify(record, null, 2))],
  ['record-invalid', { signed: '{}' }],
  ['unexplained', { signed: '{}', key: 'other' }],
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

test('the guide lists exactly the codes, in their order', () => {
  const guide = readFileSync('docs/check-your-endpoint.md', 'utf8');
  const listed = guide.matchAll(
    /`((?:secret|signature|timestamp|body|record)-[\w-]+|unexplained)`/g,
  );
  expect([...listed].map(([, code]) => code)).toEqual(callbackFindingCodes);
});

test.each([
  ['behind', late, 'make now return the time it was received'],
  ['ahead of', early, "Compare this machine's clock"],
])('an X-Timestamp %s the clock has a specific remedy', (_name, timestamp, remedy) => {
  expect(remedyOf(diagnose({ timestamp }), 'timestamp-outside-window')).toContain(remedy);
});
