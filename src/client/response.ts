import { type PaymentStatusRecord, statusRecordFields } from '../protocol/payment.js';
import type { ResponseHeaders } from './transport/transport.js';

/** An answer of the service with a 2xx status. */
export interface ServiceResponse<Body = unknown> {
  /** The HTTP status, from 200 to 299. */
  status: number;
  /** The headers, their names in lower case. */
  headers: ResponseHeaders;
  /** The body: parsed if it is JSON, else its text. With a `responseSchema`, the schema's output. */
  body: Body;
  /** How many requests the call took, from 1. */
  attempts: number;
}

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

/** Parses a JSON body; returns any other as text. Never throws: a 2xx stays a success whatever its body. */
export function parseBody(bytes: Uint8Array, headers: ResponseHeaders): unknown {
  const text = decodeText(bytes);
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

const BYTE_ORDER_MARK = 0xfeff;

function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
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
