import { describeValue } from '../protocol/describe-value.js';
import { rawBodyRequired } from './refusals.js';

/** The body exactly as received. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Bytes in memory of their own. From TypeScript 5.4 to 7.0 the type is a BodyInit and a BufferSource. */
export type Bytes = ReturnType<Uint8Array['slice']>;

/** Refuses what is neither text nor bytes: a parsed object can't be turned back into the bytes that were signed. */
export function assertRawBody(rawBody: unknown): string | Uint8Array {
  if (isUint8Array(rawBody)) return rawBody;
  if (typeof rawBody === 'string') {
    // UTF-8 has no bytes for a lone surrogate: the text that is hashed and the text that is parsed would differ.
    if (rawBody.isWellFormed()) return rawBody;
    throw rawBodyRequired('a string with a lone surrogate, a sign of lossy decoding');
  }
  if (tagOf(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer);
  const isObject = typeof rawBody === 'object' && rawBody !== null;
  throw rawBodyRequired(isObject ? 'a parsed object' : describeValue(rawBody));
}

/** Whether it is bytes. Which bytes another view (DataView, Uint16Array) means is ambiguous. */
export function isUint8Array(value: unknown): value is Uint8Array {
  // Test runners and vm contexts have their own classes, so the tag decides there.
  return (
    value instanceof Uint8Array ||
    (ArrayBuffer.isView(value) && tagOf(value) === '[object Uint8Array]')
  );
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

/** The body as bytes of their own: a merchant's framework may use its buffer for the next request. */
export const copyOf = (body: string | Uint8Array): Bytes =>
  typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
