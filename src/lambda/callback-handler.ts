import type { RawBody } from '../callback/body.js';
import type { CallbackHeaders } from '../callback/headers.js';
import { createCallbackVerifier } from '../callback/verify.js';
import { hasMethod } from '../protocol/options.js';
import { readOnce } from '../protocol/own-fields.js';
import { within } from '../protocol/waiting.js';
import { bodyWasRead } from '../receiver/body.js';
import { type EntryPoint, refuseArguments } from '../receiver/foreign-arguments.js';
import type { ChangeId } from '../receiver/kept-failures.js';
import type { CallbackReceiverOptions } from '../receiver/options.js';
import { createReceiver } from '../receiver/receiver.js';
import { bodyOf, type CallbackReply, fail } from '../receiver/reply.js';

/** Handles events of the callback endpoint. */
export interface LambdaCallbackHandler {
  /**
   * Answers one event. With the function's `context`, the remaining time limits `onPaymentTimeoutMs`, and everything
   * else too, so that the service gets a 500 before the function times out. It does not reject because of a request.
   *
   * @throws {InvalidOptionError} when the event is no HTTP request, so that SQS and the like keep it; the error, which
   * `onError` gets too, names the right entry point
   */
  (event: LambdaEvent, context?: LambdaContext): Promise<LambdaResult>;
  /**
   * Runs `onPayment` for a failed change that the store kept, like `replay` of `createCallbackReceiver`.
   *
   * @throws {StoreError} `REPLAY_IMPOSSIBLE` when the change is no longer kept, `prune` has removed its body, or
   * the body is another change's
   */
  replay(change: ChangeId): Promise<CallbackReply>;
  /**
   * Resolves as soon as no callback is being processed; an `onPayment` that runs on after its timeout counts
   * too. For tests and other hosts: a frozen function does not wait.
   */
  idle(): Promise<void>;
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
  const { receive, replay, idle } = createReceiver(options, createCallbackVerifier);

  async function handlePaymentCallback(
    given: LambdaEvent | null | undefined,
    context?: LambdaContext,
  ): Promise<LambdaResult> {
    // A function that is invoked by hand may get no event.
    const event: LambdaEvent = readOnce(given ?? {}, FIELDS);
    // Not 405, which a queue or a schedule would take for success.
    if (readMethod(event) === '') {
      await refuseArguments(ENTRY, receive, [given, context]);
      return { statusCode: 500, headers: {}, body: '' };
    }
    const receiving = receive({
      method: readMethod(event),
      headers: readHeaders(event),
      readBody: () => [readBody(event)],
      getTimeLimitMs: () => readTimeLimitMs(context),
    });
    const answerLimitMs = readAnswerLimitMs(context);
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
  'AWS Lambda: pass the event on as received; with middy leave httpJsonBodyParser out of this function';

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

const FIELDS = [
  'httpMethod',
  'requestContext',
  'headers',
  'multiValueHeaders',
  'body',
  'isBase64Encoded',
] satisfies (keyof LambdaEvent)[];

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

export function readMethod({ httpMethod, requestContext }: LambdaEvent): string {
  const context = requestContext as { http?: { method?: string } } | undefined;
  return httpMethod ?? context?.http?.method ?? '';
}

// The lists are preferred: `headers` has only the last value of a repeated header.
export function readHeaders({ headers, multiValueHeaders }: LambdaEvent): CallbackHeaders {
  const hasLists = Object.keys(multiValueHeaders ?? {}).length > 0;
  return (hasLists ? multiValueHeaders : headers) ?? {};
}

/** The remaining time, less the time to report a failure and answer. */
export function readTimeLimitMs(context: LambdaContext | undefined): number | undefined {
  return readRemainingMs(context, 500);
}

/** The remaining time, less the time to answer. */
export function readAnswerLimitMs(context: LambdaContext | undefined): number | undefined {
  return readRemainingMs(context, 200);
}

/** Less a reserve, or a share of a long time. */
function readRemainingMs(
  context: LambdaContext | undefined,
  reserveMs: number,
): number | undefined {
  const remainingMs = hasMethod(context, 'getRemainingTimeInMillis')
    ? context?.getRemainingTimeInMillis?.()
    : undefined;
  if (typeof remainingMs !== 'number' || Number.isNaN(remainingMs)) return undefined;
  return Math.max(
    1,
    Math.floor(remainingMs - Math.max(reserveMs, (remainingMs * reserveMs) / 5_000)),
  );
}

/** @throws {CallbackVerificationError} `RAW_BODY_REQUIRED` when the body is no longer text */
export function readBody({ body, isBase64Encoded }: LambdaEvent): RawBody {
  if (body === null || body === undefined) return '';
  if (typeof body !== 'string') throw bodyWasRead(REMEDY);
  // A template of a gateway may write the text 'false'.
  const isBase64 = String(isBase64Encoded).toLowerCase() === 'true';
  return isBase64 ? Buffer.from(body, 'base64') : body;
}

export function writeResult(
  { headers, multiValueHeaders }: LambdaEvent,
  reply: Pick<CallbackReply, 'status' | 'headers' | 'body'>,
): LambdaResult {
  const result = { statusCode: reply.status, headers: reply.headers, body: bodyOf(reply) ?? '' };
  if (headers || !multiValueHeaders) return result;
  const lists = Object.entries(reply.headers).map(([name, value]) => [name, [value]]);
  return { ...result, multiValueHeaders: Object.fromEntries(lists) };
}
