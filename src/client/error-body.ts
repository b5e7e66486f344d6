import type { ResponseHeaders, ServiceResponse } from '../errors.js';
import { logText } from '../protocol/plain-text.js';
import type { Credentials } from './credentials.js';
import type { PreparedRequest } from './transport/transport.js';

/** What must not be shown of the texts of an answer. */
export interface Secrets {
  readonly credentials: Credentials;
  readonly request: Pick<PreparedRequest, 'body'>;
}

// A code is also a metric label and a log field, which must not hold free text. A shortened code would be a
// different one.
export const CODE = /^[A-Za-z0-9_.:-]{1,64}$/;
const MAX_MESSAGE_LENGTH = 300;
const MAX_REQUEST_ID_LENGTH = 128;

/** The fields of an error body (interface section 2.3). */
const fieldsOf = (body: unknown): { code?: unknown; message?: unknown; requestId?: unknown } =>
  Object(body);

const wordOf = (value: unknown): string | undefined =>
  ['string', 'number'].includes(typeof value) ? String(value) : undefined;

/** What the service says of a failure in an answer that is no 2xx, safe to log. */
export function readErrorBody({ body, headers }: ServiceResponse, secrets: Secrets) {
  const { code, message } = fieldsOf(body);
  const text = typeof message === 'string' ? message : undefined;
  const [shownCode, shownMessage] = readTexts([wordOf(code), text], secrets);
  return {
    serviceCode: shownCode?.match(CODE)?.[0],
    message: shorten(shownMessage, MAX_MESSAGE_LENGTH),
    requestId: readRequestId(body, headers, secrets),
  };
}

// Proxies and frameworks set these. They are read if the body has no identifier.
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'cf-ray'];

/** The service's identifier of the request from any answer, safe to log. */
export function readRequestId(
  body: unknown,
  headers: ResponseHeaders,
  secrets: Secrets,
): string | undefined {
  const named = REQUEST_ID_HEADERS.map((name) => [headers[name]].flat()[0]);
  const ids = [wordOf(fieldsOf(body).requestId), ...named];
  const id = ids.find((text) => text !== undefined && text.trim() !== '');
  return shorten(readTexts([id], secrets)[0], MAX_REQUEST_ID_LENGTH);
}

/** Texts of an answer as they are safe to log; undefined for one that is blank. */
export function readTexts(
  texts: readonly (string | undefined)[],
  { credentials, request }: Secrets,
): (string | undefined)[] {
  const given = texts.map((text) => text ?? '');
  return credentials.redactor
    .redactAll(given, request.body)
    .map((text) => logText(text) || undefined);
}

// Only after redaction: half a secret is still one.
export function shorten(text: string | undefined, maxLength: number): string | undefined {
  return text !== undefined && text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
