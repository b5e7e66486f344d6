import type { ServiceResponse } from '../errors.js';
import { type PaymentStatusRecord, statusRecordFields } from '../protocol/payment.js';
import type { Answer, ResponseHeaders } from './transport/transport.js';

/** The service's answer to the creation of a payment. */
export interface CreatePaymentResult<Body = unknown, Fields = unknown> {
  /**
   * The fields of the answer, unknown ones included. The interface does not specify the answer, so each field
   * may be missing, except `Fields`, which a `responseSchema` has checked. A known field that is not a string
   * is left out here; `response.body` has it.
   */
  payment: Partial<PaymentStatusRecord> & Record<string, unknown> & Fields;
  /** The whole answer. */
  response: ServiceResponse<Body>;
}

// Without a byte order mark.
// Not at the load: a test environment of a browser may lack it.
let utf8: { decode(bytes: Uint8Array): string } | undefined;

/** What the caller gets of an answer, with its JSON parsed. Never throws. */
export function toResponse({ status, headers, body }: Answer, attempts: number): ServiceResponse {
  utf8 ??= new TextDecoder();
  const text = utf8.decode(body);
  return { status, headers, body: parseBody(text, headers), text, attempts };
}

/** Parses a JSON body; returns any other as it is. */
export function parseBody(text: string, headers: ResponseHeaders): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  // "404" in a text/plain body is text; an object is JSON whatever its content-type.
  return (typeof value === 'object' && value !== null) || isJsonType(headers['content-type'])
    ? value
    : text;
}

/**
 * Whether the body is a page for people, as of a firewall, a captive portal or a maintenance notice: then something
 * else than the service has answered, with whatever status. A service in PHP may send its JSON as text/html.
 */
export function isPage(
  { headers, bodyFailure }: Answer,
  { body, text }: Pick<ServiceResponse, 'body' | 'text'>,
): boolean {
  // Parsed JSON.
  if (typeof body === 'object') return false;
  const start = text.trimStart();
  if (/^<(?:!doctype\s+html|html)\b/i.test(start)) return true;
  if (!/^(?:text\/html|application\/xhtml\+xml)\b/i.test(String(headers['content-type'])))
    return false;
  // What did not arrive whole can't be parsed.
  return bodyFailure === undefined ? start !== '' && !isJson(start) : !/^[[{"]/.test(start);
}

/** Whether a text was meant to be JSON, or is markup: then something else than the service may have answered. */
export function isOfAnother({ body, text, headers }: ServiceResponse): boolean {
  if (body !== text || text.trim() === '') return false;
  return isJsonType(headers['content-type']) || /^\s*</.test(text);
}

function isJsonType(contentType: string | string[] | undefined): boolean {
  return /^[^;]*[/+]json\b/i.test(String(contentType));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The payment in the body of a creation's answer. */
export function readPayment(body: unknown): CreatePaymentResult['payment'] {
  if (typeof body !== 'object' || Array.isArray(body)) return {};
  const payment: Record<string, unknown> = { ...body };
  for (const field of statusRecordFields) {
    if (field in payment && typeof payment[field] !== 'string') delete payment[field];
  }
  return payment;
}
