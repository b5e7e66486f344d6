import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import { prepareSecrets } from '../callback/verify.js';
import { within } from '../protocol/waiting.js';
import { bodyWasRead } from '../receiver/body.js';
import { type EntryPoint, refuseArguments } from '../receiver/foreign-arguments.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver, type ReceivedWork } from '../receiver/receiver.js';
import { type CallbackReply, fail } from '../receiver/reply.js';

/** Handles events of the callback endpoint. */
export interface LambdaCallbackHandler extends ReceivedWork {
  /**
   * Answers one event. With the function's `context`, the remaining time limits `onPaymentTimeoutMs`, and everything
   * else too, so that the service gets a 500 before the function times out. It does not reject because of a request.
   *
   * @throws {InvalidOptionError} when the event is no HTTP request, so that SQS and the like keep it; the error, which
   * `onError` gets too, names the right entry point
   */
  (event: LambdaEvent, context?: LambdaContext): Promise<LambdaResult>;
}

/**
 * Creates a handler for AWS Lambda behind API Gateway (REST and HTTP API), a function URL or an ALB. Use a
 * store that outlives the function's instance.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis';
 * import { redisStore } from 'merchant-payments/redis';
 * import { callbackHandler } from 'merchant-payments/lambda';
 *
 * export const handler = callbackHandler({
 *   store: redisStore(new Redis(process.env.REDIS_URL ?? '')),
 *   async onPayment({ payment }) {
 *     console.log(payment.merchantPaymentReference, payment.status);
 *   },
 * });
 * ```
 */
export function callbackHandler<Tx = undefined, Fields = unknown>(
  options: CallbackReceiverOptions<Tx, Fields>,
): LambdaCallbackHandler {
  const { receive, replay, idle, report } = createReceiver(options, prepareSecrets);

  async function handlePaymentCallback(
    given: LambdaEvent | null | undefined,
    context?: LambdaContext,
  ): Promise<LambdaResult> {
    // A function that is invoked by hand may get no event.
    const event = given ?? {};
    // Not 405, which a queue or a schedule would take for success.
    if (readMethod(event) === '') {
      await refuseArguments(ENTRY, report, [given, context]);
      return { statusCode: 500, headers: {}, body: '' };
    }
    const receiving = receive({
      method: readMethod(event),
      headers: readHeaders(event),
      readBody: () => [readBody(event)],
      // Less the time to report a failure and answer.
      getTimeLimitMs: () => readRemainingMs(context, 500),
    });
    // Less the time to answer.
    const answerLimitMs = readRemainingMs(context, 200);
    // Whatever takes so long, such as the store or onError: after its time the function would answer nothing.
    const reply =
      answerLimitMs === undefined ? await receiving : await within(answerLimitMs, receiving, fail);
    return writeResult(event, reply);
  }
  return Object.assign(handlePaymentCallback, { replay, idle });
}

const ENTRY: EntryPoint = {
  name: 'lambda',
  takes: 'an event of API Gateway (REST and HTTP API), a function URL or an ALB',
};

const REMEDY =
  'Pass the event on as received; with middy leave httpJsonBodyParser out of this function';

/** The part of an event of API Gateway (REST and HTTP API), a function URL or an ALB that is used. */
export interface LambdaEvent {
  /** The method: REST API and ALB. */
  readonly httpMethod?: string | undefined;
  /** Has the method as `http.method`: HTTP API (payload 2.0) and function URLs. */
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

/** The part of a function's context that is used. */
export interface LambdaContext {
  /** How long the function may still run, in milliseconds. */
  getRemainingTimeInMillis?(): number;
}

/** The answer that API Gateway, function URLs and ALBs expect. */
export interface LambdaResult {
  /** HTTP status. */
  statusCode: number;
  /** Headers. */
  headers: Record<string, string>;
  /** The same headers, for an ALB with multi-value headers, which reads only these. */
  multiValueHeaders?: Record<string, string[]>;
  /** Empty, unless `explainAnswers` is set. */
  body: string;
}

function readMethod({ httpMethod, requestContext }: LambdaEvent): string {
  const context = requestContext as { http?: { method?: string } } | undefined;
  return httpMethod ?? context?.http?.method ?? '';
}

// The lists are preferred: `headers` has only the last value of a repeated header.
function readHeaders({ headers, multiValueHeaders }: LambdaEvent): CallbackHeaders {
  const hasLists = Object.keys(multiValueHeaders ?? {}).length > 0;
  return (hasLists ? multiValueHeaders : headers) ?? {};
}

/** The function's remaining time, less a reserve, or a share of a long time. */
function readRemainingMs(
  context: LambdaContext | undefined,
  reserveMs: number,
): number | undefined {
  // Any second argument may come, such as the callback of an older runtime.
  if (typeof context?.getRemainingTimeInMillis !== 'function') return undefined;
  const remainingMs = context.getRemainingTimeInMillis();
  if (typeof remainingMs !== 'number' || Number.isNaN(remainingMs)) return undefined;
  const keptMs = Math.max(reserveMs, (remainingMs * reserveMs) / 5_000);
  return Math.max(1, Math.floor(remainingMs - keptMs));
}

/** @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when the body is no longer text */
function readBody({ body, isBase64Encoded }: LambdaEvent): RawBody {
  if (body === null || body === undefined) return '';
  if (typeof body !== 'string') throw bodyWasRead(REMEDY);
  // A template of a gateway may write the text 'false'.
  const isBase64 = String(isBase64Encoded).toLowerCase() === 'true';
  return isBase64 ? Buffer.from(body, 'base64') : body;
}

function writeResult(
  { headers, multiValueHeaders }: LambdaEvent,
  reply: Pick<CallbackReply, 'status' | 'headers' | 'body'>,
): LambdaResult {
  const result = { statusCode: reply.status, headers: reply.headers, body: reply.body ?? '' };
  if (headers || !multiValueHeaders) return result;
  const lists = Object.entries(reply.headers).map(([name, value]) => [name, [value]]);
  return { ...result, multiValueHeaders: Object.fromEntries(lists) };
}
