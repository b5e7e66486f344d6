import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CallbackVerificationError } from '../../../src/errors.js';
import type { SignedCallback } from '../../../src/testing/sign-callback.js';
import { type Delivery, deliver, type MakeServer, openScene, sign } from './scene.js';

export interface BadRequestOptions {
  /** Whether something before the adapter refuses what is no JSON. */
  readonly behindJsonParser?: boolean;
  /** Whether something before the adapter inflates what is compressed, as parsers of JSON do. */
  readonly isInflated?: boolean;
  /** Whether something before the adapter decodes the body as text. */
  readonly behindText?: boolean;
  /** Those of {@link badRequests} to try, where another mount of the adapter is tried with the others; all by default. */
  readonly only?: readonly string[];
}

interface Answer {
  readonly status: number;
  /** Headers beyond those that every answer of the server has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The code that `onRejected` gets. */
  readonly rejected?: string;
  /** The code that `onError` gets. */
  readonly reported?: string;
}

type Row = [what: string, request: () => Delivery, answer: Answer];

const nowSeconds = () => Math.floor(Date.now() / 1000);
const withHeaders = (headers: Record<string, string | undefined>): Delivery => {
  const { rawBody, headers: signed } = sign();
  const all = Object.entries({ ...signed, ...headers }).filter(([, value]) => value !== undefined);
  return { rawBody, headers: Object.fromEntries(all) as Record<string, string> };
};
const signedAt = (seconds: number): SignedCallback =>
  sign({}, { timestamp: new Date(seconds * 1000) });

const refused = (code: string): Answer => ({ status: 401, rejected: code });
const notAllowed: Answer = { status: 405, headers: { allow: 'POST' } };
const noRecord: Answer = { status: 422, reported: 'INVALID_RECORD' };

const contentTypes = ['json', '/', 'text/plain', 'a/b;;'];
const methods = ['GET', 'HEAD', 'PUT', 'OPTIONS'];

const rows: Row[] = [
  ...contentTypes.map((type): Row => {
    return [
      `the content type ${type}`,
      () => withHeaders({ 'content-type': type }),
      { status: 200 },
    ];
  }),
  ['no content type', () => withHeaders({ 'content-type': undefined }), { status: 200 }],
  [
    'a bad content type, forged',
    () => ({ ...withHeaders({ 'content-type': 'json' }), rawBody: '{}' }),
    refused('SIGNATURE_MISMATCH'),
  ],
  ...methods.map((method): Row => [method, () => ({ method, ...sign() }), notAllowed]),
  ...methods.map((method): Row => [`${method} without a body`, () => ({ method }), notAllowed]),
  ['no timestamp', () => withHeaders({ 'x-timestamp': undefined }), refused('MISSING_TIMESTAMP')],
  ['an empty timestamp', () => withHeaders({ 'x-timestamp': '' }), refused('MISSING_TIMESTAMP')],
  ['a bad timestamp', () => withHeaders({ 'x-timestamp': '1e9' }), refused('INVALID_TIMESTAMP')],
  [
    'a timestamp in milliseconds',
    () => withHeaders({ 'x-timestamp': String(Date.now()) }),
    refused('INVALID_TIMESTAMP'),
  ],
  ['an old one', () => signedAt(nowSeconds() - 400), refused('TIMESTAMP_OUTSIDE_WINDOW')],
  ['one of the future', () => signedAt(nowSeconds() + 400), refused('TIMESTAMP_OUTSIDE_WINDOW')],
  ['no signature', () => withHeaders({ 'x-signature': undefined }), refused('MISSING_SIGNATURE')],
  ['an empty signature', () => withHeaders({ 'x-signature': '' }), refused('MISSING_SIGNATURE')],
  [
    'a bad signature',
    () => withHeaders({ 'x-signature': 'sha256=0' }),
    refused('INVALID_SIGNATURE'),
  ],
  ['a forged one', () => sign({}, { signingSecret: 'another' }), refused('SIGNATURE_MISMATCH')],
  ['another body', () => ({ ...sign(), rawBody: '{}' }), refused('SIGNATURE_MISMATCH')],
  ['no body', () => ({ headers: sign().headers }), refused('SIGNATURE_MISMATCH')],
  ['neither body nor headers', () => ({}), refused('MISSING_TIMESTAMP')],
  [
    'an empty body in chunks',
    () => ({ headers: sign().headers, rawBody: '', chunked: true }),
    refused('SIGNATURE_MISMATCH'),
  ],
  [
    'too large a body',
    () => ({ ...sign(), rawBody: `{"a":"${'x'.repeat(70_000)}"}` }),
    { status: 413, rejected: 'BODY_TOO_LARGE' },
  ],
  [
    'too large a body in chunks',
    () => ({ ...sign(), rawBody: `{"a":"${'x'.repeat(70_000)}"}`, chunked: true }),
    { status: 413, rejected: 'BODY_TOO_LARGE' },
  ],
  ['a list', () => sign('[]'), noRecord],
  ['a part of a record', () => sign('{"status":"paid"}'), noRecord],
];

/** What no parser of JSON refuses before the adapter. */
export const badRequests: readonly string[] = rows.map(([what]) => what);

/** What a parser of JSON refuses before the adapter. */
const malformed: Row[] = [
  ['JSON that is cut off', () => sign('{"status":'), noRecord],
  ['text', () => sign('no JSON'), noRecord],
  ['nothing, signed', () => sign(''), noRecord],
  [
    'an unknown charset',
    () => withHeaders({ 'content-type': 'application/json; charset=x' }),
    { status: 200 },
  ],
];

/** Every adapter gives the same answer to a request that is no callback, and the same reason to the merchant. */
export function describeBadRequests(
  name: string,
  makeServer: MakeServer,
  {
    behindJsonParser = false,
    isInflated = behindJsonParser,
    behindText = false,
    only = badRequests,
  }: BadRequestOptions,
): void {
  const open = async () => {
    const rejected: CallbackVerificationError[] = [];
    const onRejected = (error: CallbackVerificationError) => void rejected.push(error);
    return { scene: await openScene(makeServer, { onRejected }), rejected };
  };

  describe(`${name} answers as every adapter does`, () => {
    const tried = rows.filter(([what]) => only.includes(what));
    it.each(behindJsonParser ? tried : [...tried, ...malformed])(
      '%s',
      async (_what, make, answer) => {
        const { scene, rejected } = await open();
        const { status, headers, body } = await deliver(scene, make());
        const { allow, 'content-type': type, 'retry-after': later } = headers;
        const shown = Object.entries({ allow, type, later }).filter(
          ([, value]) => value !== undefined,
        );
        expect({ status, headers: Object.fromEntries(shown), body }).toEqual({
          status: answer.status,
          headers: answer.headers ?? {},
          body: '',
        });
        expect(rejected.map(({ code }) => code)).toEqual(answer.rejected ? [answer.rejected] : []);
        expect(scene.reported.map(({ error }) => (error as { code: string }).code)).toEqual(
          answer.reported ? [answer.reported] : [],
        );
      },
    );
  });

  describe.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ])(`${name} given a body with content-encoding %s`, (encoding, compress) => {
    const plain = sign();
    const rawBody = compress(plain.rawBody);
    const encoded = { ...plain.headers, 'content-encoding': encoding };

    it('that was signed before it was compressed', async () => {
      const { scene, rejected } = await open();
      const { status } = await deliver(scene, { rawBody, headers: encoded });
      // What inflates it keeps what was signed.
      expect(status).toBe(isInflated ? 200 : 401);
      const messages = rejected.map(({ code, message }) => `${code}: ${message}`);
      const named = expect.stringMatching(
        new RegExp(`^SIGNATURE_MISMATCH: .*content-encoding ${encoding}`),
      );
      expect(messages).toEqual(isInflated ? [] : [named]);
    });

    it('that was signed as it came', async () => {
      const { scene, rejected } = await open();
      const { headers } = sign(rawBody);
      const signed = { ...headers, 'content-encoding': encoding };
      const { status } = await deliver(scene, { rawBody, headers: signed });
      const isLost = isInflated || behindText;
      expect(status).toBe(isLost ? 401 : 422);
      const errors = isLost ? rejected : scene.reported.map(({ error }) => error as Error);
      expect(errors.map(({ message }) => message)).toEqual([
        expect.stringContaining(`content-encoding ${encoding}`),
      ]);
    });
  });
}
