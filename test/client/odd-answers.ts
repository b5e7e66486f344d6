import zlib, { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { RequestError } from '../../src/errors.js';
import { answer, type Content, chunked, closed, JSON_TYPE, sized } from './answer-bytes.js';
import {
  createClient,
  order,
  record,
  startRawServer,
  type TransportOptions,
} from './raw-server.js';

/** What a call makes of an answer: of a success how its body was read, of a failure the error. */
export type Verdict =
  | { readonly read: 'payment' | 'text' | 'nothing' | 'value' }
  | { readonly code: string; readonly requestOutcome: string; readonly safeToRetry: boolean };

export interface OddAnswer {
  readonly what: string;
  /** The bytes, after which the connection is closed unless `stays`. */
  readonly bytes: Buffer;
  readonly stays: boolean;
  readonly verdict: Verdict;
  /** By fetch, where the runtime's own fetch keeps the answer from its caller. */
  readonly byFetch: Verdict | undefined;
}

const MAX_RESPONSE_BYTES = 20_000;

// Seen of the fetch of Node 20.18, and no longer of that of 20.20: it undoes several encodings in the wrong order, and
// as many as there are.
const hasOldFetch = /^6\.(?:1?\d|20)\./.test(process.versions['undici'] ?? '');

const read = (how: 'payment' | 'text' | 'nothing' | 'value'): Verdict => ({ read: how });
const accepted: Verdict = {
  code: 'RESPONSE_UNUSABLE',
  requestOutcome: 'accepted',
  safeToRetry: false,
};
const noAnswer: Verdict = {
  code: 'RESPONSE_UNUSABLE',
  requestOutcome: 'unknown',
  safeToRetry: false,
};
const lost: Verdict = {
  code: 'CONNECTION_FAILED',
  requestOutcome: 'unknown',
  safeToRetry: false,
};
const refused: Verdict = { code: 'API_ERROR', requestOutcome: 'rejected', safeToRetry: false };
const unknown: Verdict = { code: 'API_ERROR', requestOutcome: 'unknown', safeToRetry: false };

const json = JSON.stringify(record);
const half = json.slice(0, 60);
const html = '<!doctype html><h1>Created</h1>';
const typed = (type: string, body: Content): Buffer =>
  answer(201, [`content-type: ${type}`, `content-length: ${Buffer.byteLength(body)}`], body);

const encoded = (encoding: string, body: Content): Buffer =>
  sized(201, body, `content-encoding: ${encoding}`);

const utf16 = Buffer.from(`\ufeff${json}`, 'utf16le');
// zstd -19, whose decoder Node has from 22.15 on.
const zstd = Buffer.from(
  'KLUv/QRolQQAQokdGYBvA2yY3OY7xGjtAYJ5HxJdcBNZUY0RNgLZnKptC3Qbzy0uYNc8vH71mF6jP7NtHQpN6lRVY6X4fUKW9NO2dd2O3+dLa6xSqUdXTCqND/MebduAcU0RB+mE+RhOInIAJWQ4n8DeDpuWxBr7LqMKcYb6e+O/WAkAliKVIlw6YAEQcgZ0g9wkAET5WBYiRAFdCKAe',
  'base64',
);
const corrupt = gzipSync(json);
corrupt.fill(0xff, 20, 40);

const row = (
  what: string,
  bytes: Buffer,
  verdict: Verdict,
  { stays = false, byFetch }: { stays?: boolean; byFetch?: Verdict } = {},
): OddAnswer => ({ what, bytes, verdict, stays, byFetch });

export const oddAnswers: readonly OddAnswer[] = [
  // Where the body ends.
  row('JSON with its length', sized(201, json), read('payment'), { stays: true }),
  row('JSON in chunks', chunked(json), read('payment'), { stays: true }),
  row('JSON that ends with the connection', closed(201, json, JSON_TYPE), read('payment')),
  row('cut JSON with a length', answer(201, [JSON_TYPE, 'content-length: 500'], half), accepted),
  row('cut JSON in chunks', chunked(json).subarray(0, -40), accepted),
  row('cut JSON without a length', closed(201, half, JSON_TYPE), accepted),
  row('no body where JSON is announced, without a length', closed(201, '', JSON_TYPE), accepted),
  row('no body and no length', closed(201, ''), read('nothing')),
  row('text that ends with the connection', closed(201, 'Created'), read('text')),
  row('whole but broken JSON', sized(201, half), read('text')),
  row('an empty body', sized(201, ''), read('nothing'), { stays: true }),
  row('blanks', sized(201, '  \n'), read('text')),
  row(
    'a body larger than allowed, announced',
    sized(201, 'x'.repeat(MAX_RESPONSE_BYTES + 1)),
    accepted,
  ),
  row(
    'a body larger than allowed, in chunks',
    chunked('x'.repeat(MAX_RESPONSE_BYTES + 1)),
    accepted,
  ),
  row(
    'a body larger than allowed, not announced',
    closed(201, 'x'.repeat(MAX_RESPONSE_BYTES + 1)),
    accepted,
  ),
  row(
    'more than its length',
    answer(201, [JSON_TYPE, `content-length: ${json.length}`], `${json}garbage`),
    read('payment'),
  ),

  // Its content-encoding.
  row('gzip', encoded('gzip', gzipSync(json)), read('payment')),
  row('deflate', encoded('deflate', deflateSync(json)), read('payment')),
  row('raw deflate', encoded('deflate', deflateRawSync(json)), read('payment')),
  row('br', encoded('br', brotliCompressSync(json)), read('payment')),
  row('gzip in gzip', encoded('gzip, gzip', gzipSync(gzipSync(json))), read('payment')),
  row('gzip, then br', encoded('gzip, br', brotliCompressSync(gzipSync(json))), read('payment'), {
    byFetch: hasOldFetch ? accepted : read('payment'),
  }),
  row('the first bytes of gzip', encoded('gzip', gzipSync(json).subarray(0, 5)), accepted),
  row('zstd', encoded('zstd', zstd), 'zstdDecompressSync' in zlib ? read('payment') : accepted),
  row(
    'gzip that is cut, though its length is right',
    encoded('gzip', gzipSync(json).subarray(0, 90)),
    accepted,
  ),
  row('gzip that is corrupt', encoded('gzip', corrupt), accepted),
  row('JSON that says that it is gzip', encoded('gzip', json), accepted),
  row(
    'gzip larger than allowed once it is read',
    encoded('gzip', gzipSync('x'.repeat(MAX_RESPONSE_BYTES + 1))),
    accepted,
  ),
  row('identity', encoded('identity', json), read('payment')),
  row('JSON in utf-8', encoded('utf-8', json), read('payment')),
  row('an unknown encoding', encoded('x-none', gzipSync(json)), accepted),
  row('gzip in an unknown encoding', encoded('x-none, gzip', gzipSync(json)), accepted),

  // What it is.
  row('HTML', typed('text/html', html), noAnswer),
  row('HTML that says that it is JSON', sized(201, html), noAnswer),
  row('HTML after white space and a byte order mark', sized(200, `\ufeff\r\n ${html}`), noAnswer),
  row('HTML that begins with another tag', typed('text/html', '<p>Sign in'), noAnswer),
  row('XHTML', typed('Application/XHTML+xml; charset=utf-8', '<?xml version="1.0"?>'), noAnswer),
  row(
    'HTML that is cut',
    answer(200, ['content-type: text/html', 'content-length: 500'], html),
    noAnswer,
  ),
  row('HTML larger than allowed', sized(200, html.padEnd(MAX_RESPONSE_BYTES + 1)), noAnswer),
  row('JSON as HTML', typed('text/html; charset=utf-8', json), read('payment')),
  row('nothing as HTML', typed('text/html', ''), read('nothing')),
  row('an element of another kind', typed('text/plain', '<htmlish>'), read('text')),
  row('JSON with a byte order mark', sized(201, `\ufeff${json}`), read('payment')),
  row('JSON in UTF-16', typed('application/json; charset=utf-16', utf16), read('text')),
  row('JSON as plain text', typed('text/plain', json), read('payment')),
  row('a list', sized(201, '[1]'), read('value')),
  row('null', sized(201, 'null'), read('value')),
  row('a number', sized(201, '7'), read('value')),

  // Its status and headers.
  row('204', answer(204, []), read('nothing'), { stays: true }),
  row('204 with a length', answer(204, ['content-length: 5']), read('nothing')),
  row('205 of JSON without a body', closed(205, '', JSON_TYPE), read('nothing')),
  row('103 alone', answer(103, ['link: </a>']), lost),
  row(
    '103 before the answer',
    Buffer.concat([answer(103, ['link: </a>']), sized(201, json)]),
    read('payment'),
  ),
  row('100 before the answer', Buffer.concat([answer(100, []), sized(201, json)]), lost),
  row('101', answer(101, ['connection: upgrade', 'upgrade: x']), lost),
  row('301 with a location', sized(301, '', 'location: https://elsewhere.example/api'), unknown),
  row('a refusal larger than allowed', sized(422, 'x'.repeat(MAX_RESPONSE_BYTES + 1)), refused),
  row('no HTTP', Buffer.from('SSH-2.0-OpenSSH\r\n\r\n'), noAnswer),
  row('a head without an end', Buffer.from('HTTP/1.1 201 Text\r\ncontent-le'), lost),
  row('nothing', Buffer.alloc(0), lost),
  row('headers of 20,000 bytes', sized(201, json, `x-long: ${'x'.repeat(20_000)}`), noAnswer),
];

/** What a call makes of the answer. */
export async function verdictOn(
  { bytes, stays }: OddAnswer,
  options: TransportOptions,
): Promise<Verdict> {
  const server = await startRawServer({
    answer({ socket }) {
      if (stays) socket.write(bytes);
      else socket.end(bytes);
      return undefined;
    },
  });
  const client = createClient(server.url, { ...options, maxResponseBytes: MAX_RESPONSE_BYTES });
  try {
    const { payment, response } = await client.payments.create(order);
    if (payment.referenceNumber !== undefined) return { read: 'payment' };
    if (typeof response.body !== 'string') return { read: 'value' };
    return { read: response.body === '' ? 'nothing' : 'text' };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { code, requestOutcome, safeToRetry } = error;
    return { code, requestOutcome, safeToRetry };
  }
}
