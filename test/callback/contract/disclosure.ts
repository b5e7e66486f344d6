import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { failureOf, now, SECRET, sampleRecord, sampleRequest } from '../sample-callback.js';
import { type CommonOptions, type Implementation, sampleVerifier } from './implementation.js';

const PLANTED_SECRET = 'planted-secret-5d1c';
const PLANTED_BODY = 'planted-customer-77aa';

/** Each way in which bytes of the secret could show. */
const secretForms = [
  PLANTED_SECRET,
  Buffer.from(PLANTED_SECRET).toString('hex'),
  Buffer.from(PLANTED_SECRET).toString('base64').replace(/=*$/, ''),
  [...Buffer.from(PLANTED_SECRET)].slice(0, 6).join(', '),
  inspect(Buffer.from(PLANTED_SECRET).subarray(0, 6)).slice(8, -1),
];

function everythingShownBy(value: unknown): string {
  const { stack = '', message = '', cause } = Object(value) as Partial<Error>;
  return [
    inspect(value, { showHidden: true, depth: 20, getters: true }),
    inspect(value),
    JSON.stringify(value),
    String(value),
    stack,
    message,
    inspect(cause, { showHidden: true, depth: 20 }),
  ].join('\n');
}

function expectNothingPlanted(value: unknown): void {
  const shown = everythingShownBy(value);
  for (const form of secretForms) expect(shown).not.toContain(form);
  expect(shown).not.toContain(PLANTED_BODY);
}

const body = JSON.stringify(sampleRecord({ merchantPaymentReference: PLANTED_BODY }));
const good = sampleRequest({ body, secret: PLANTED_SECRET });
const signedBody = (text: string | Uint8Array) =>
  sampleRequest({ body: text, secret: PLANTED_SECRET });
const withHeaders = (headers: object) => ({ ...good, headers: { ...good.headers, ...headers } });

const refusals: [string, unknown][] = [
  ['RAW_BODY_REQUIRED', { ...good, rawBody: JSON.parse(body) }],
  ['RAW_BODY_REQUIRED', { ...good, rawBody: `${PLANTED_BODY}\ud800` }],
  ['MISSING_TIMESTAMP', withHeaders({ 'x-timestamp': undefined })],
  ['MISSING_SIGNATURE', withHeaders({ 'x-signature': undefined })],
  ['INVALID_TIMESTAMP', withHeaders({ 'x-timestamp': PLANTED_BODY })],
  ['INVALID_TIMESTAMP', withHeaders({ 'x-timestamp': { PLANTED_BODY } })],
  ['TIMESTAMP_OUTSIDE_WINDOW', withHeaders({ 'x-timestamp': '1' })],
  ['INVALID_SIGNATURE', withHeaders({ 'x-signature': PLANTED_BODY })],
  ['INVALID_SIGNATURE', withHeaders({ 'x-signature': [PLANTED_BODY, PLANTED_BODY] })],
  ['SIGNATURE_MISMATCH', { ...good, rawBody: `${body} ` }],
  ['INVALID_RECORD', signedBody(PLANTED_BODY)],
  ['INVALID_RECORD', signedBody(`{"a":${PLANTED_BODY}`)],
  ['INVALID_RECORD', signedBody(Buffer.concat([Buffer.from(PLANTED_BODY), Buffer.of(0xff)]))],
  ['INVALID_RECORD', signedBody(JSON.stringify([PLANTED_BODY]))],
  ['INVALID_RECORD', signedBody(JSON.stringify({ status: [PLANTED_BODY] }))],
  ['INVALID_RECORD', signedBody(JSON.stringify(sampleRecord({ updatedAt: PLANTED_BODY })))],
  ['INVALID_OPTION', { ...good, headers: PLANTED_BODY }],
  ['INVALID_OPTION', { ...good, headers: [PLANTED_BODY] }],
  ['INVALID_OPTION', PLANTED_BODY],
];

export function describeDisclosure(implementation: Implementation): void {
  const { createCallbackVerifier } = implementation;
  const verify = sampleVerifier(implementation);

  describe('what is shown', () => {
    it.each(refusals)('by a %s holds no secret and nothing of the body', async (code, request) => {
      for (const signingSecret of [PLANTED_SECRET, Buffer.from(PLANTED_SECRET)]) {
        const error = await failureOf(() => verify(request, { signingSecret }));
        expect(error).toMatchObject({ code });
        expectNothingPlanted(error);
      }
    });

    it.each([
      ['', ' '],
      [' ', ''],
      ['', '\n'],
    ])('by a refused secret holds nothing of it, %j before and %j after', async (before, after) => {
      const signingSecret = before + PLANTED_SECRET + after;
      for (const value of [signingSecret, [SECRET, signingSecret], { key: signingSecret }]) {
        const error = await failureOf(() =>
          createCallbackVerifier({ signingSecret: value } as CommonOptions),
        );
        expect(error).toMatchObject({ code: 'INVALID_OPTION' });
        expectNothingPlanted(error);
      }
    });

    it('by the verifier itself holds no secret, before and after its use', async () => {
      const run = createCallbackVerifier({
        signingSecret: [PLANTED_SECRET, Buffer.from(`${PLANTED_SECRET}2`)],
        now,
      });
      expectNothingPlanted(run);
      await run(good);
      expectNothingPlanted(run);
      expect(Reflect.ownKeys(run).sort()).toEqual(['length', 'name']);
    });

    it('by a verified callback holds no secret and no signature', async () => {
      const verified = await verify(good, { signingSecret: PLANTED_SECRET });
      const shown = everythingShownBy(verified);
      for (const form of [...secretForms, good.headers['x-signature']]) {
        expect(shown).not.toContain(form);
      }
    });

    it('by the JSON of an error is its name, code, message and safe fields', async () => {
      const options = { signingSecret: PLANTED_SECRET, now: () => now() + 400_000 };
      const error = await failureOf(() => verify(good, options));
      expect(JSON.parse(JSON.stringify(error))).toEqual({
        name: 'CallbackVerificationError',
        code: 'TIMESTAMP_OUTSIDE_WINDOW',
        message: (error as Error).message,
        skewSeconds: 400,
      });
    });
  });
}
