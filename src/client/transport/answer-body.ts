import type { Answer, ResponseHeaders } from './transport.js';

/** Whether the body was compressed, although the request asks for `identity`. */
export function isEncoded(headers: ResponseHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding !== 'identity';
}

/**
 * Decompresses the body of an answer, which would otherwise count as text and hide its payment. Never throws.
 */
export function decodeAnswer(answer: Answer, maxBytes: number): Answer {
  const named = String(answer.headers['content-encoding']);
  const encoding = named.toLowerCase();
  // Loaded here: a service that respects accept-encoding never needs it.
  const { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } =
    process.getBuiltinModule('node:zlib');
  const decoders = {
    br: brotliDecompressSync,
    // Some servers omit the zlib header, whose first byte ends in 8.
    deflate: (Number(answer.body[0]) & 15) === 8 ? inflateSync : inflateRawSync,
    gzip: gunzipSync,
    'x-gzip': gunzipSync,
  };
  // zlib refuses a larger limit.
  const { MAX_LENGTH } = process.getBuiltinModule('node:buffer').constants;
  const isKnown = Object.hasOwn(decoders, encoding);
  try {
    if (!isKnown) {
      const error = new Error('The content-encoding is not known');
      throw Object.assign(error, { code: 'UNKNOWN_CONTENT_ENCODING' });
    }
    const decode = decoders[encoding as keyof typeof decoders];
    return {
      ...answer,
      body: decode(answer.body, { maxOutputLength: Math.min(maxBytes, MAX_LENGTH) }),
    };
  } catch (cause) {
    // A charset by mistake, identity in upper case, gzip that a proxy removed: the bytes are the body.
    if (isJson(answer.body)) return answer;
    const tooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = tooLarge ? 'too-large' : 'lost';
    return {
      ...answer,
      bodyFailure: { reason, cause, unknownEncoding: isKnown ? undefined : named },
    };
  }
}

/**
 * Whether a body broke off although its end was reported: an interceptor may drop it, and over HTTP/2 undici
 * reports the end of a stream that was reset. Without a content-length only broken JSON shows it.
 *
 * @param size - the number of bytes received, before decompression
 */
export function isCutOff({ status, headers, body }: Answer, size: number): boolean {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length) !== size;
  if (status === 204 || status === 205 || headers['transfer-encoding'] !== undefined) return false;
  if (!/[/+]json\b/i.test(String(headers['content-type']))) return false;
  return !isJson(body);
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(body));
    return true;
  } catch {
    return false;
  }
}

// An interceptor's body may be circular.
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/** The answer that undici's `responseError` or `retry` interceptor turned into an error. */
export function readInterceptedAnswer(error: unknown): Answer | undefined {
  const { code, statusCode, headers, body } = (error ?? {}) as Record<string, unknown>;
  if (code !== 'UND_ERR_RESPONSE' && code !== 'UND_ERR_REQ_RETRY') return undefined;
  if (typeof statusCode !== 'number') return undefined;
  const text = typeof body === 'string' ? body : toJson(body);
  return {
    kind: 'answer',
    status: statusCode,
    headers: (headers ?? {}) as ResponseHeaders,
    body: Buffer.from(text),
    // Neither passes on the body of a 2xx.
    bodyFailure: statusCode < 300 ? { reason: 'lost', cause: error } : undefined,
  };
}
