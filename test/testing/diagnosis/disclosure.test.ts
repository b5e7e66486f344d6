import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { diagnoseCallback } from '../../../src/testing/index.js';
import { failureOf } from '../../callback/sample-callback.js';
import { COMPACT, diagnose, hmac, now, sampleRecord, sign, TIMESTAMP } from './scene.js';

const DECODED = Buffer.from('planted key of thirty-two bytes!');
const PLANTED = `whsec_${DECODED.toString('base64')}`;
const INNER = DECODED.toString('base64');

const forms = (bytes: Buffer) =>
  [
    bytes.toString('utf8'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ].map((text) => text.replace(/=+$/, ''));

const secretForms = [
  ...forms(DECODED),
  ...forms(Buffer.from(INNER)),
  ...forms(Buffer.from(PLANTED)),
  ...forms(Buffer.from(PLANTED.slice(3))),
];

const pretty = JSON.stringify(sampleRecord(), null, 2);
const signedStrings = [
  `${TIMESTAMP}.${COMPACT}`,
  `${TIMESTAMP}.${pretty}`,
  `${TIMESTAMP}.${COMPACT}\n`,
];
/** What would let anybody forge the callback. */
const signatureForms = signedStrings.flatMap((text) =>
  [DECODED, INNER, PLANTED].flatMap((key) => forms(hmac(text, { key }))),
);

function shownBy(value: unknown): string {
  const shown = [inspect(value, { depth: 20, showHidden: true }), JSON.stringify(value) ?? ''];
  if (value instanceof Error) shown.push(String(value.stack));
  return shown.join('\n');
}

function expectNothingPlanted(value: unknown): void {
  const shown = shownBy(value);
  for (const form of [...secretForms, ...signatureForms]) expect(shown).not.toContain(form);
}

const given = [
  ['right', PLANTED],
  ['with a line break', `${PLANTED}\n`],
  ['in quotes', `"${PLANTED}"`],
  ['decoded', DECODED],
  ['in base64', INNER],
  ['in hex', DECODED.toString('hex')],
] as const;

describe.each(given)('a secret that is given %s is in no diagnosis of', (_name, signingSecret) => {
  test.each<[string, Parameters<typeof diagnose>[0]]>([
    ['a right signature', { key: PLANTED }],
    ['the key in hex', { key: DECODED.toString('hex') }],
    ['the decoded key', { key: DECODED }],
    ['a body that was pretty-printed', { key: PLANTED, rawBody: pretty }],
    ['another secret', { key: 'other' }],
    ['a stale callback', { key: PLANTED, timestamp: '1000' }],
    ['a missing signature', { headers: { 'x-timestamp': TIMESTAMP } }],
    ['a missing timestamp', { headers: { 'x-signature': 'ab'.repeat(32) } }],
    ['an unreadable signature', { signature: 'no signature' }],
    [
      'a prefix that is part of the secret',
      { signature: `${PLANTED.slice(0, 12)}=${'ab'.repeat(32)}` },
    ],
    ['a body that is no record', { signed: '{}', key: PLANTED }],
  ])('%s', (_what, callback) => {
    expectNothingPlanted(diagnose({ ...callback, options: { signingSecret } }));
  });
});

test('the received signature is not repeated either', () => {
  const signature = sign(COMPACT, { secret: 'other' });
  expect(shownBy(diagnose({ signature }))).not.toContain(signature.slice(0, 12));
});

describe('errors hold no secret', () => {
  test.each<[string, object]>([
    ['of another secret', { signingSecret: [PLANTED, ''] }],
    ['of a secret with an edge and another that is empty', { signingSecret: [`${PLANTED} `, ' '] }],
    ['of a secret in an object', { signingSecret: { key: PLANTED } }],
  ])('%s', async (_name, wrong) => {
    const options = { signingSecret: PLANTED, now, ...wrong } as never;
    const request = { rawBody: COMPACT, headers: {} };
    const error = await failureOf(() => diagnoseCallback(request, options));
    expect(error).toMatchObject({ code: 'INVALID_OPTION' });
    expectNothingPlanted(error);
  });
});
