import { CallbackVerificationError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';

/** The body exactly as received. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** The remedy for a body that is not the bytes as received, framework by framework. */
export const HOW_TO_GET_THE_BYTES =
  "Get the bytes before anything parses them: Express express.raw({ type: 'application/json' }) on this route, before express.json(); " +
  'NestJS rawBody: true and req.rawBody; Fastify a content type parser with parseAs: "buffer"; ' +
  'Next.js app routes and other Fetch frameworks await request.text(); Next.js pages api: { bodyParser: false }; ' +
  'AWS Lambda event.body, decoded from base64 when isBase64Encoded';

/**
 * Narrows the body to text or bytes.
 *
 * @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` for anything else, such as a parsed object, which
 * can't be turned back into the bytes that were signed
 */
export function assertRawBody(rawBody: unknown): string | Uint8Array {
  if (typeof rawBody === 'string') {
    // A lone surrogate has no bytes in UTF-8, so the text that is hashed and the text that is parsed would
    // differ.
    if (rawBody.isWellFormed()) return rawBody;
    throw rawBodyRequired('a string with a lone surrogate, a sign of lossy decoding');
  }
  if (isUint8Array(rawBody) || isBuffer(rawBody)) return toBytes(rawBody);
  throw rawBodyRequired(
    typeof rawBody === 'object' && rawBody !== null ? 'a parsed object' : describeValue(rawBody),
  );
}

/**
 * Whether `value` is bytes. Other views (DataView, Uint16Array) are not accepted: which bytes they mean is
 * ambiguous.
 */
export function isUint8Array(value: unknown): value is Uint8Array {
  // Test runners and vm contexts have their own classes, so the tag decides there.
  return (
    value instanceof Uint8Array ||
    (ArrayBuffer.isView(value) && tagOf(value) === '[object Uint8Array]')
  );
}

const isBuffer = (value: unknown): value is ArrayBufferLike =>
  /^\[object (?:Shared)?ArrayBuffer\]$/.test(tagOf(value));

function toBytes(given: Uint8Array | ArrayBufferLike): Uint8Array {
  try {
    const bytes = isUint8Array(given) ? given : new Uint8Array(given);
    // Another thread could change shared memory after it was hashed. Detached memory shows as empty, and cannot be copied.
    const mustCopy = bytes.length === 0 || !(bytes.buffer instanceof ArrayBuffer);
    return mustCopy ? new Uint8Array(bytes) : bytes;
  } catch {
    throw rawBodyRequired('bytes whose memory was detached (transferred to another thread)');
  }
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value);
}

function rawBodyRequired(received: string): CallbackVerificationError {
  return new CallbackVerificationError(
    'RAW_BODY_REQUIRED',
    `rawBody must be the bytes of the request (string, Uint8Array or ArrayBuffer); received ${received}. ${HOW_TO_GET_THE_BYTES}`,
  );
}
