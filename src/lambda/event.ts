import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import { bodyWasRead } from '../receiver/body.js';

const REMEDY =
  'AWS Lambda: pass the event on as it came; with middy leave httpJsonBodyParser out of this function';

/** What is read of an event of API Gateway (REST and HTTP API), a function URL or an ALB. */
export interface LambdaEvent {
  /** The method: REST API and ALB. */
  readonly httpMethod?: string | undefined;
  /** Holds the method as `http.method`: HTTP API (payload 2.0) and function URLs. */
  readonly requestContext?: object | undefined;
  /** Names in any case. */
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** REST API; an ALB when multi-value headers are on. */
  readonly multiValueHeaders?:
    | Readonly<Record<string, readonly string[] | undefined>>
    | null
    | undefined;
  /** The body as text, in base64 when `isBase64Encoded`. */
  readonly body?: string | null | undefined;
  /** Whether `body` is base64. */
  readonly isBase64Encoded?: boolean | undefined;
}

/** What is read of the context that a function is called with. */
export interface LambdaContext {
  /** How long the function may still run, in milliseconds. */
  getRemainingTimeInMillis?(): number;
}

/** What API Gateway, function URLs and ALBs take for an answer. */
export interface LambdaResult {
  /** HTTP status. */
  statusCode: number;
  /** Headers. */
  headers: Record<string, string>;
  /** The headers once more, for an ALB with multi-value headers, which reads only these. */
  multiValueHeaders?: Record<string, string[]>;
  /** Empty. */
  body: string;
}

export function readMethod({ httpMethod, requestContext }: LambdaEvent): string {
  const context = requestContext as { http?: { method?: string } } | undefined;
  return httpMethod ?? context?.http?.method ?? '';
}

// The lists come first: `headers` has but the last value of a header that was sent twice.
export function readHeaders({ headers, multiValueHeaders }: LambdaEvent): CallbackHeaders {
  const hasLists = Object.keys(multiValueHeaders ?? {}).length > 0;
  return (hasLists ? multiValueHeaders : headers) ?? {};
}

/** The time that is left, less what it takes to report a failure and to answer. */
export function readTimeLimitMs(context: LambdaContext | undefined): number | undefined {
  const remainingMs = context?.getRemainingTimeInMillis?.();
  if (typeof remainingMs !== 'number' || Number.isNaN(remainingMs)) return undefined;
  return Math.max(1, Math.floor(remainingMs - Math.max(500, remainingMs / 10)));
}

/** @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when the body is no longer text */
export function readBody({ body, isBase64Encoded }: LambdaEvent): RawBody {
  if (body === null || body === undefined) return '';
  if (typeof body !== 'string') throw bodyWasRead(REMEDY);
  return isBase64Encoded ? Buffer.from(body, 'base64') : body;
}

export function writeResult(
  { headers, multiValueHeaders }: LambdaEvent,
  reply: { status: number; headers: Record<string, string> },
): LambdaResult {
  const result = { statusCode: reply.status, headers: reply.headers, body: '' };
  if (headers || !multiValueHeaders) return result;
  const lists = Object.entries(reply.headers).map(([name, value]) => [name, [value]]);
  return { ...result, multiValueHeaders: Object.fromEntries(lists) };
}
