import { InvalidOptionError } from '../errors.js';
import { parseExactly } from '../protocol/json.js';
import { invalidOption, objectOf, type Rule } from '../protocol/options.js';
import { isObject, isPlain } from '../protocol/own-fields.js';
import { version } from '../protocol/version.js';

type Headers = Readonly<Record<string, string>>;

const SET_BY_CLIENT = 'the client sets it';

// RFC 9110, section 5.6.2.
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
// RFC 9110, section 5.5; a line break would begin another header.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

// They belong to the connection, which the transport manages.
const OF_CONNECTION =
  'connection expect keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade';
const RESERVED: ReadonlyMap<string, string> = new Map([
  ...['authorization', 'content-type', 'content-length', 'host', 'accept-encoding'].map(
    (name) => [name, SET_BY_CLIENT] as const,
  ),
  ...OF_CONNECTION.split(' ').map((name) => [name, 'it belongs to the connection'] as const),
]);

/** Checks request headers; gives their names in lower case. Errors never quote values, which may be secret. */
export const requestHeaders: Rule<Headers> = (value, option) => {
  if (!isObject(value) || Symbol.iterator in value) {
    throw invalidOption(option, 'an object of header names and values', value);
  }
  const headers: Record<string, string> = {};
  for (const [given, content] of Object.entries(value)) {
    if (!NAME.test(given)) {
      throw new InvalidOptionError(option, `${option} has an invalid header name; check it`);
    }
    const name = given.toLowerCase();
    const why = RESERVED.get(name);
    if (why !== undefined) {
      throw new InvalidOptionError(option, `${option} must not have ${name}: ${why}`);
    }
    if (Object.hasOwn(headers, name)) {
      throw new InvalidOptionError(option, `${option} has ${name} twice; give it once`);
    }
    headers[name] = readValue(content, `${option}.${name}`);
  }
  return Object.freeze(headers);
};

/** Checks the name of a header that the client is to set; gives it in lower case. */
const headerName: Rule<string> = (value, option) => {
  if (typeof value !== 'string' || !NAME.test(value)) {
    throw invalidOption(option, 'the name of a header, such as idempotency-key', value);
  }
  const name = value.toLowerCase();
  const why = Object.hasOwn(defaultHeaders, name) ? SET_BY_CLIENT : RESERVED.get(name);
  if (why === undefined) return name;
  throw new InvalidOptionError(option, `${option} must not be ${name}: ${why}`);
};

function readValue(value: unknown, option: string): string {
  if (typeof value !== 'string') throw invalidOption(option, 'a string', value);
  if (VALUE.test(value)) return value;
  throw new InvalidOptionError(
    option,
    `${option} must not contain line breaks, control characters or characters beyond Latin-1; encode the value`,
  );
}

/** Names the SDK to the service, and reveals nothing about the merchant's machine. */
export const userAgent = `merchant-payments/${version}`;

/** What every request has, unless the caller replaces it. */
export const defaultHeaders: Headers = {
  accept: 'application/json',
  // Otherwise a server may compress, and the size on the wire would not be that of the body.
  'accept-encoding': 'identity',
  'user-agent': userAgent,
};

export type Idempotency = { readonly header: string } | 'merchantPaymentReference';

const byHeader = objectOf({ header: headerName });

/** Gives the header's name in lower case. */
export const idempotency: Rule<Idempotency> = (value, option) => {
  if (value === 'merchantPaymentReference') return value;
  if (isObject(value) && isPlain(value)) return byHeader(value, option);
  const expected = `{ header: 'idempotency-key' } with the header's name, or 'merchantPaymentReference'`;
  throw invalidOption(option, expected, value);
};

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
