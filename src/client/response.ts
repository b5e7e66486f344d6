import { describeIssues, type Issue, ResponseError, type ServiceResponse } from '../errors.js';
import { type PaymentStatusRecord, statusRecordFields } from '../protocol/payment.js';
import { type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
import type { GiveUpReason } from './deadline.js';
import { advise, type FailureContext, givenUpError, joinSentences, PAGE } from './failure.js';
import { ACCEPTED } from './retry.js';
import { isJson } from './transport/answer-body.js';
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

// Made at the first answer: a test environment of a browser may lack it. It drops a byte order mark.
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
  const isOfJson = /^[^;]*[/+]json\b/i.test(String(headers['content-type']));
  return isOfJson || (typeof value === 'object' && value !== null) ? value : text;
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

export function readPayment(body: unknown): CreatePaymentResult['payment'] {
  if (typeof body !== 'object' || Array.isArray(body)) return {};
  const payment: Record<string, unknown> = { ...body };
  for (const field of statusRecordFields) {
    if (field in payment && typeof payment[field] !== 'string') delete payment[field];
  }
  return payment;
}

// A body of a megabyte can have half a million issues, and each is searched for secrets.
const MAX_ISSUES = 100;

/**
 * Runs the user's own schema over the body of a 2xx, inside the call's deadline.
 *
 * @throws {ResponseError} when the schema finds issues or fails, although the service accepted the request
 */
export async function applyResponseSchema(
  response: ServiceResponse,
  schema: StandardSchemaV1,
  context: FailureContext,
): Promise<ServiceResponse> {
  const run = async () => {
    const result = await schema['~standard'].validate(response.body);
    if (result.issues === undefined) return { ...response, body: result.value };
    return redactIssues(toIssues(result.issues.slice(0, MAX_ISSUES)), context);
  };
  // The payment exists whatever a broken schema does. Its error can quote the body.
  const checked = await context.deadline.race(run().catch(() => null));
  if (checked === undefined) {
    throw givenUpError(context.deadline.gaveUp as GiveUpReason, ACCEPTED, context);
  }
  if (checked !== null && 'status' in checked) return checked;
  const what =
    checked === null
      ? 'responseSchema threw, or returned neither a value nor issues.'
      : `The service answered with ${response.status}, but its body does not fit responseSchema: ${describeIssues(checked)}.`;
  throw new ResponseError(joinSentences(what, advise(ACCEPTED, context), PAGE), {
    ...ACCEPTED,
    response,
    ...(checked !== null && { issues: checked }),
  });
}

function redactIssues(
  issues: readonly Issue[],
  { credentials, request }: FailureContext,
): readonly Issue[] {
  const redact = (text: string): string =>
    credentials.redactor.redactAll([text], request.body)[0] as string;
  return issues.map(({ path, message }) => ({
    // A field name of the answer is untrusted text, too.
    path: path.map((key) => (typeof key === 'string' ? redact(key) : key)),
    message: redact(message),
  }));
}
