import type { ResponseHeaders, ServiceResponse } from '../errors.js';
import { fieldOfAny as fieldOf } from '../protocol/own-fields.js';
import { logText } from '../protocol/plain-text.js';
import { parseUrl } from '../protocol/url.js';
import type { Credentials } from './credentials.js';
import type { PreparedRequest } from './transport/transport.js';

/** What must not be shown of the texts of an answer. */
export interface Secrets {
  readonly credentials: Credentials;
  readonly request: Pick<PreparedRequest, 'body'>;
}

/** What the service says of a failure, safe to log. */
export interface ServiceError {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
}

// A code is also a metric label and a log field, which must not hold free text. A shortened code would be a
// different one.
export const CODE = /^[A-Za-z0-9_.:-]{1,64}$/;
const MAX_MESSAGE_LENGTH = 300;
const MAX_REQUEST_ID_LENGTH = 128;
const MAX_TOLD_TEXTS = 5;

/** A text, or a number as text. */
const wordOf = (value: unknown): string | undefined =>
  ['string', 'number'].includes(typeof value) ? String(value) : undefined;

// The interface has code, message and requestId (section 2.3). The others are those of RFC 9457 and of common
// frameworks, each of which may be a text or a list.
const MESSAGES = ['error', 'message', 'title', 'detail', 'errors'] as const;

/** Reads an answer that is no 2xx. */
export function readErrorBody({ body, headers }: ServiceResponse, secrets: Secrets): ServiceError {
  const nested = fieldOf(body, 'error');
  const texts = [body, nested]
    .flatMap((holder) => MESSAGES.flatMap((name) => fieldOf(holder, name)))
    .map(describe)
    .filter((text) => text !== '');
  const [code, ...shown] = readTexts(
    [
      wordOf(fieldOf(body, 'code')) ?? wordOf(fieldOf(nested, 'code')),
      ...texts.slice(0, MAX_TOLD_TEXTS),
    ],
    secrets,
  );
  const parts = new Set(shown.filter((text) => text !== undefined));
  const hidden = texts.length - MAX_TOLD_TEXTS;
  if (hidden > 0) parts.add(`and ${hidden} more`);
  return {
    code: code?.match(CODE)?.[0],
    message: shorten([...parts].join('; ') || undefined, MAX_MESSAGE_LENGTH),
    requestId: readRequestId(body, headers, secrets),
  };
}

/** A text, or an entry of a list of what is wrong; empty for anything else. */
function describe(said: unknown): string {
  if (typeof said === 'string') return said;
  const parts = [fieldOf(said, 'field') ?? fieldOf(said, 'path'), fieldOf(said, 'message')];
  return parts.filter((part) => typeof part === 'string').join(': ');
}

// Of proxies and frameworks, where the body has none.
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'cf-ray'];

/** The service's identifier of the request from any answer, safe to log. */
export function readRequestId(
  body: unknown,
  headers: ResponseHeaders,
  secrets: Secrets,
): string | undefined {
  const ids = [body, fieldOf(body, 'error')].flatMap((holder) => [
    wordOf(fieldOf(holder, 'requestId')),
    wordOf(fieldOf(holder, 'request_id')),
  ]);
  ids.push(...REQUEST_ID_HEADERS.map((name) => [headers[name]].flat()[0]));
  const id = ids.find((text) => text !== undefined && text.trim() !== '');
  return shorten(readTexts([id], secrets)[0], MAX_REQUEST_ID_LENGTH);
}

const MAX_LOCATION_LENGTH = 200;

/** Where a redirect leads, safe to log: without a query, which may hold a token. */
export function readLocation(
  { location }: ResponseHeaders,
  from: string,
  secrets: Secrets,
): string | undefined {
  const given = [location].flat()[0];
  const url = given === undefined ? undefined : parseUrl(given, from);
  const { protocol, host, pathname } = url ?? {};
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return shorten(readTexts([`${protocol}//${host}${pathname}`], secrets)[0], MAX_LOCATION_LENGTH);
}

/** Texts of an answer as they are safe to log; undefined for one that is blank. */
export function readTexts(
  texts: readonly (string | undefined)[],
  { credentials, request }: Secrets,
): (string | undefined)[] {
  const given = texts.map((text) => text ?? '');
  return credentials.redactAll(given, request.body).map((text) => logText(text) || undefined);
}

// Only after redaction: half a secret is still one.
export function shorten(text: string | undefined, maxLength: number): string | undefined {
  return text !== undefined && text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
