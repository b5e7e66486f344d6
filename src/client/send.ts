import { ApiError, type MerchantPaymentsError, type RequestOutcome } from '../errors.js';
import { type FailureContext, givenUpError, outcomeOf, readRequestId, toError } from './failure.js';
import { type AttemptReport, isObserved, type Logger, observe } from './observation.js';
import { parseBody, type ServiceResponse } from './response.js';
import {
  combineOutcomes,
  decideRetry,
  isSafeToRetry,
  parseRetryAfter,
  type Verdict,
} from './retry.js';
import type { Answer, Exchange, Transport } from './transport/transport.js';

export interface SendContext extends FailureContext {
  readonly transport: Transport;
  readonly logger: Logger | undefined;
  readonly maxRetries: number;
  readonly retryUnknownOutcome: boolean;
}

type AttemptResult = Success | FailedAttempt;

interface Success {
  readonly answer: Answer;
  readonly body: unknown;
  readonly error?: undefined;
}

interface FailedAttempt {
  readonly answer: Answer | undefined;
  readonly error: MerchantPaymentsError;
  /** After this attempt and those before it. */
  readonly verdict: Verdict;
  readonly retryDelayMs: number | undefined;
}

/**
 * Sends a prepared request until it succeeds, must not be sent again, or the deadline passes.
 *
 * @throws {MerchantPaymentsError} with the outcome of all attempts together
 */
export async function send(context: SendContext): Promise<ServiceResponse> {
  const { request, deadline, transport, logger } = context;
  let known: RequestOutcome = 'not-sent';
  for (let attempt = 1; ; attempt += 1) {
    const earlier: RequestOutcome = known;
    const result: AttemptResult = isObserved(logger)
      ? await observe(
          { method: request.method, path: request.path, attempt },
          logger,
          async () => judge(await transport.send(request, deadline), context, attempt, earlier),
          (result) => toReport(result, context),
        )
      : judge(await transport.send(request, deadline), context, attempt, earlier);
    if (result.error === undefined) {
      const { status, headers } = result.answer;
      return { status, headers, body: result.body, attempts: attempt };
    }
    if (result.retryDelayMs === undefined) throw result.error;
    known = result.verdict.requestOutcome;
    await deadline.wait(result.retryDelayMs);
    if (deadline.gaveUp !== undefined) throw givenUpError(deadline.gaveUp, result.verdict, context);
  }
}

function judge(
  exchange: Exchange,
  context: SendContext,
  attempt: number,
  earlier: RequestOutcome,
): AttemptResult {
  const { request, deadline, maxRetries, retryUnknownOutcome } = context;
  const own = outcomeOf(exchange);
  if (own === undefined) {
    const answer = exchange as Answer;
    return { answer, body: parseBody(answer.body, answer.headers) };
  }
  const requestOutcome = combineOutcomes(earlier, own);
  const answer = exchange.kind === 'answer' ? exchange : undefined;
  const bodyFailure = answer?.bodyFailure?.reason;
  const failed = {
    outcome: own,
    safe: request.safe,
    httpStatus: answer?.status,
    bodyLost: bodyFailure === 'lost' || bodyFailure === 'given-up',
  };
  const verdict = { requestOutcome, safeToRetry: isSafeToRetry(failed, requestOutcome) };
  if (exchange.kind === 'failure' && exchange.refuse !== undefined) {
    const error = exchange.refuse(verdict);
    return { answer, error, verdict, retryDelayMs: undefined };
  }
  const retryDelayMs = decideRetry(
    {
      ...failed,
      gaveUp: deadline.gaveUp !== undefined,
      retryAfterSeconds: parseRetryAfter(answer?.headers['retry-after'], Date.now()),
    },
    {
      attempt,
      maxRetries,
      retryUnknownOutcome,
      remainingMs: deadline.remainingMs,
      random: Math.random(),
    },
  );
  return { answer, error: toError(exchange, verdict, context), verdict, retryDelayMs };
}

function toReport(result: AttemptResult, context: FailureContext): AttemptReport {
  if (result.error === undefined) {
    return {
      status: result.answer.status,
      requestId: readRequestId(result.body, context),
      outcome: 'accepted',
      failure: undefined,
    };
  }
  const { answer, error, verdict, retryDelayMs } = result;
  return {
    status: answer?.status,
    requestId: error instanceof ApiError ? error.requestId : undefined,
    outcome: verdict.requestOutcome,
    failure: { error, retried: retryDelayMs !== undefined },
  };
}
