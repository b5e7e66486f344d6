import { InvalidOptionError } from '../errors.js';
import { parseExactly } from '../protocol/json.js';
import { invalidOption, objectOf, type Rule } from '../protocol/options.js';
import { isObject, isPlain } from '../protocol/own-fields.js';
import { headerName } from './request-headers.js';

/** How the service recognises a repeated creation: by a key in this header, or by the payment's reference. */
export type Idempotency = { readonly header: string } | 'merchantPaymentReference';

const byHeader = objectOf({ header: headerName });

/** Gives the header's name in lower case. */
export const idempotency: Rule<Idempotency> = (value, option) => {
  if (value === 'merchantPaymentReference') return value;
  if (isObject(value) && isPlain(value)) return byHeader(value, option);
  const expected = `{ header: 'idempotency-key' } with the header's name, or 'merchantPaymentReference'`;
  throw invalidOption(option, expected, value);
};

/** The header that carries the key of a payment, if one does. */
export function headerOf(given: Idempotency | undefined): string | undefined {
  return typeof given === 'object' ? given.header : undefined;
}

/** @throws {InvalidOptionError} when headers of the caller have the client's idempotency key */
export function assertNoKey(
  headers: Readonly<Record<string, string>> | undefined,
  given: Idempotency | undefined,
): void {
  const header = headerOf(given);
  if (header === undefined || !Object.hasOwn(headers ?? {}, header)) return;
  throw new InvalidOptionError(
    'headers',
    `headers must not have ${header}: idempotency sets it for each payment; leave out one of the two`,
  );
}

/**
 * The key of a payment: the same for the same fields in any order, so that every process makes the same of what is
 * stored anyway. With other fields the payment is another, since services refuse a key that comes with another body.
 */
export function toIdempotencyKey(body: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(canonicalize(body)).digest();
  // A UUID of version 8 (RFC 9562), which is the shape that most services take, and within the length of all.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** JSON with the fields of its objects in order. */
function canonicalize(json: string): string {
  return JSON.stringify(parseExactly(json, String), (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(fields);
  });
}
