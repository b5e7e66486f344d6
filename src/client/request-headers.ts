import { InvalidOptionError } from '../errors.js';
import { invalidOption, type Rule } from '../protocol/options.js';
import { version } from '../protocol/version.js';

type Headers = Readonly<Record<string, string>>;

// RFC 9110, section 5.6.2.
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
// RFC 9110, section 5.5; a line break would begin another header.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const OWN = ['authorization', 'content-type', 'content-length', 'host', 'accept-encoding'];
// They belong to the connection, which the transport manages.
const OF_CONNECTION = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Checks request headers; gives their names in lower case. Errors never quote values, which may be secret. */
export const requestHeaders: Rule<Headers> = (value, option) => {
  if (typeof value !== 'object' || value === null || Symbol.iterator in value) {
    throw invalidOption(option, 'an object of header names and values', value);
  }
  const headers = new Map<string, string>();
  for (const [given, content] of Object.entries(value)) {
    const name = readName(given, option);
    if (headers.has(name)) {
      throw new InvalidOptionError(option, `${option} has ${name} twice; give it once`);
    }
    headers.set(name, readValue(content, `${option}.${name}`));
  }
  return Object.freeze(Object.fromEntries(headers));
};

function readName(given: string, option: string): string {
  if (!isName(given)) {
    throw new InvalidOptionError(option, `${option} has an invalid header name; check it`);
  }
  const name = given.toLowerCase();
  const why = whyReserved(name);
  if (why === undefined) return name;
  throw new InvalidOptionError(option, `${option} must not have ${name}: ${why}`);
}

/** Checks the name of a header that the client is to set; gives it in lower case. */
export const headerName: Rule<string> = (value, option) => {
  if (typeof value !== 'string' || !isName(value)) {
    throw invalidOption(option, 'the name of a header, such as idempotency-key', value);
  }
  const name = value.toLowerCase();
  const why = Object.hasOwn(defaultHeaders, name) ? SET_BY_CLIENT : whyReserved(name);
  if (why === undefined) return name;
  throw new InvalidOptionError(option, `${option} must not be ${name}: ${why}`);
};

// As a key of an object the latter would set its prototype.
function isName(given: string): boolean {
  return NAME.test(given) && given.toLowerCase() !== '__proto__';
}

const SET_BY_CLIENT = 'the client sets it';

function whyReserved(name: string): string | undefined {
  if (OWN.includes(name)) return SET_BY_CLIENT;
  return OF_CONNECTION.includes(name) ? 'it belongs to the connection' : undefined;
}

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
