import type { Answer, AnswerRules, ResponseHeaders } from './transport.js';

const NO_BODY = new Uint8Array(0);

/**
 * Makes of what a transport has received the answer that counts, the same of all: decompresses the
 * body, and finds out whether it broke off. Never throws.
 */
export function completeAnswer(answer: Answer, method: string, rules: AnswerRules): Answer {
  const { status, headers, body, bodyFailure } = answer;
  if (method === 'HEAD' || status === 204 || status === 205) {
    // What such an answer announces never comes.
    const isWhole = bodyFailure?.reason === 'lost';
    return isWhole ? { ...answer, body: NO_BODY, bodyFailure: undefined } : answer;
  }
  if (bodyFailure !== undefined) return answer;
  const isEncodedYet = isEncoded(headers) && !(rules.isDecoded && fetchDecodes(headers));
  const read =
    isEncodedYet && body.length > 0 ? decodeAnswer(answer, rules.maxResponseBytes) : answer;
  if (read.bodyFailure !== undefined || rules.isMock) return read;
  // undici checks the length itself, but an interceptor may drop a body. A fetch has compared it itself, and one of the
  // user may have changed the body since.
  const length = headers['content-length'];
  const isShort = !rules.isDecoded && length !== undefined && Number(length) !== body.length;
  return isShort || isCutOff(read, body.length)
    ? { ...read, bodyFailure: { reason: 'lost' } }
    : read;
}

/** Whether the body was compressed, although the request asks for `identity`. */
export function isEncoded(headers: ResponseHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding !== 'identity';
}

function codingsOf(headers: ResponseHeaders): string[] {
  const named = String(headers['content-encoding']).toLowerCase();
  return named.split(',').map((coding) => coding.trim());
}

const FETCH_DECODES: readonly string[] = ['br', 'deflate', 'gzip', 'x-gzip', 'zstd'];

const fetchDecodes = (headers: ResponseHeaders): boolean =>
  codingsOf(headers).every((coding) => FETCH_DECODES.includes(coding));

type Zlib = typeof import('node:zlib') & {
  /** Of Node 22.15 and later. */
  readonly zstdDecompressSync?: (body: Uint8Array, options: object) => Uint8Array;
};

/**
 * Decompresses the body of an answer, which would otherwise count as text and hide its payment. As by fetch, one that
 * ends too soon is not an error.
 */
function decodeAnswer(answer: Answer, maxBytes: number): Answer {
  // Loaded here: a service that respects accept-encoding never needs it.
  const zlib: Zlib = process.getBuiltinModule('node:zlib');
  const { zstdDecompressSync } = zlib;
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
  // zlib refuses a larger limit.
  const { MAX_LENGTH } = process.getBuiltinModule('node:buffer').constants;
  const maxOutputLength = Math.min(maxBytes, MAX_LENGTH);
  const options = { maxOutputLength, finishFlush: Z_SYNC_FLUSH };
  const gunzip = (body: Uint8Array) => zlib.gunzipSync(body, options);
  const decoders: Readonly<Record<string, (body: Uint8Array) => Uint8Array>> = {
    br: (body) =>
      zlib.brotliDecompressSync(body, { maxOutputLength, finishFlush: BROTLI_OPERATION_FLUSH }),
    deflate(body) {
      // Some servers omit the zlib header, whose first byte ends in 8.
      const inflate = (Number(body[0]) & 15) === 8 ? zlib.inflateSync : zlib.inflateRawSync;
      return inflate(body, options);
    },
    gzip: gunzip,
    'x-gzip': gunzip,
    /* v8 ignore next -- @preserve Node 20 has no zstd */
    ...(zstdDecompressSync && { zstd: (body) => zstdDecompressSync(body, { maxOutputLength }) }),
  };
  const codings = codingsOf(answer.headers);
  if (!codings.every((coding) => Object.hasOwn(decoders, coding))) {
    // A charset by mistake, or identity in upper case: the bytes are the body.
    if (isJson(textOf(answer.body))) return answer;
    return { ...answer, bodyFailure: { reason: 'encoded' } };
  }
  try {
    const body = codings.reduceRight<Uint8Array>(
      (encoded, coding) => (decoders[coding] as typeof gunzip)(encoded),
      answer.body,
    );
    return { ...answer, body };
  } catch (cause) {
    const tooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return { ...answer, bodyFailure: { reason: tooLarge ? 'too-large' : 'lost', cause } };
  }
}

/**
 * Whether a body broke off although its end was reported. That happens where only the end of the connection ends it,
 * in a compressed body, and over HTTP/2, where undici reports the end of a stream that was reset. Only broken JSON shows it.
 *
 * @param size - the number of bytes received, before decompression
 */
function isCutOff({ headers, body }: Answer, size: number): boolean {
  const { 'content-length': length, 'transfer-encoding': framing } = headers;
  const isWhole = length === undefined ? /chunked/i.test(String(framing)) : Number(length) === size;
  if (isWhole && (length === '0' || !isEncoded(headers))) return false;
  const isOfJson = /[/+]json\b/i.test(String(headers['content-type']));
  const text = textOf(body);
  return (isOfJson || /^\s*\{/.test(text)) && !isJson(text);
}

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body);

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The answer that undici's `responseError` or `retry` interceptor turned into an error. */
export function readInterceptedAnswer(error: unknown): Answer | undefined {
  const { code, statusCode, headers, body } = (error ?? {}) as Record<string, unknown>;
  if (code !== 'UND_ERR_RESPONSE' && code !== 'UND_ERR_REQ_RETRY') return undefined;
  if (typeof statusCode !== 'number') return undefined;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    kind: 'answer',
    status: statusCode,
    headers: (headers ?? {}) as ResponseHeaders,
    body: Buffer.from(text ?? ''),
    // Neither passes on the body of a 2xx.
    bodyFailure: statusCode < 300 ? { reason: 'lost', cause: error } : undefined,
  };
}
