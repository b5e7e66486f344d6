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

/** What the caller gets of an answer, with its JSON parsed. Never throws: a 2xx stays a success whatever its body. */
export function toResponse({ status, headers, body }: Answer, attempts: number): ServiceResponse {
  // Without a byte order mark.
  const text = new TextDecoder().decode(body);
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

/** Whether a text was meant to be JSON, or is a page of HTML: then something else than the service may have answered. */
export function isOfAnother({ body, text, headers }: ServiceResponse): boolean {
  if (body !== text || text.trim() === '') return false;
  return isJsonType(headers['content-type']) || /^\s*</.test(text);
}

function isJsonType(contentType: string | string[] | undefined): boolean {
  return /^[^;]*[/+]json\b/i.test(String(contentType));
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
