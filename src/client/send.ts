import type { RequestOutcome, ServiceResponse } from '../errors.js';
import { type FailureContext, givenUpError, outcomeOf, toError } from './failure.js';
import { type AttemptResult, type CallTrace, observeRequest } from './observation.js';
import type { Call } from './prepared-request.js';
import { isPage, toResponse } from './response.js';
import {
  ACCEPTED,
  combineOutcomes,
  decideRetry,
  type FailedAttempt,
  isSafeToRetry,
  parseRetryAfter,
} from './retry.js';
import { completeAnswer } from './transport/answer-body.js';
import { type Exchange, GIVEN_UP, type Transport } from './transport/transport.js';

export interface SendContext extends FailureContext {
  readonly call: Call;
  /** Undefined if the call has no observers. */
  readonly trace: CallTrace | undefined;
  readonly transport: Transport;
  /** Aborted when the client is closed, after which nothing is retried. */
  readonly closing: AbortSignal;
}

/**
 * Sends a prepared request until it succeeds, must not be sent again, or the deadline passes.
 *
 * @throws {MerchantPaymentsError} with the outcome of all attempts together
 */
export async function send(context: SendContext): Promise<ServiceResponse> {
  const { trace, deadline, closing } = context;
  let known: RequestOutcome = 'not-sent';
  for (let attempt = 1; ; attempt += 1) {
    const sending: Sending = { attempt, earlier: known };
    const run = () => sendOnce(context, sending);
    const result = await (trace === undefined ? run() : observeRequest(context, trace, run));
    if (result.error === undefined) return result.response as ServiceResponse;
    if (result.retryDelayMs === undefined) throw result.error;
    known = result.outcome.requestOutcome;
    await deadline.wait(result.retryDelayMs, closing);
    const reason = deadline.check();
    if (reason !== undefined) throw givenUpError(reason, result.outcome, context);
    if (closing.aborted) throw result.error;
  }
}

interface Sending {
  /** From 1. */
  readonly attempt: number;
  readonly earlier: RequestOutcome;
}

async function sendOnce(context: SendContext, sending: Sending): Promise<AttemptResult> {
  const { call, request, deadline, transport } = context;
  // A call may have ended while its transport was loaded, or during a stall of the event loop.
  const isOver = deadline.check() !== undefined;
  const received = isOver ? GIVEN_UP : await transport.send(request, deadline);
  if (received.kind === 'failure') return failedAttempt(received, undefined, context, sending);
  const answer = completeAnswer(received, request.method, transport.answerRules);
  const response = toResponse(answer, sending.attempt);
  // Any other operation may answer with a page.
  const exchange =
    call.operation === 'payments.create' && isPage(answer, response)
      ? { ...answer, isPage: true }
      : answer;
  return outcomeOf(exchange) === undefined
    ? { response, outcome: ACCEPTED, error: undefined, retryDelayMs: undefined }
    : failedAttempt(exchange, response, context, sending);
}

/** Decides what an attempt that did not succeed means, and whether there is another. */
function failedAttempt(
  exchange: Exchange,
  response: ServiceResponse | undefined,
  context: SendContext,
  { attempt, earlier }: Sending,
): AttemptResult {
  const { call, request, deadline, closing } = context;
  const answer = exchange.kind === 'answer' ? exchange : undefined;
  const bodyFailure = answer?.bodyFailure?.reason;
  const failed: FailedAttempt = {
    outcome: outcomeOf(exchange) as RequestOutcome,
    safe: request.safe,
    httpStatus: answer?.status,
    bodyLost: bodyFailure === 'lost' || bodyFailure === 'given-up',
    gaveUp: deadline.gaveUp !== undefined || closing.aborted,
    retryAfterSeconds: parseRetryAfter(answer?.headers ?? {}, Date.now()),
  };
  const requestOutcome = combineOutcomes(earlier, failed.outcome);
  const outcome = { requestOutcome, safeToRetry: isSafeToRetry(failed, requestOutcome) };
  const retryDelayMs = decideRetry(failed, {
    attempt,
    maxRetries: call.options?.maxRetries ?? call.client.maxRetries,
    mayRepeat: call.mayRepeat,
    remainingMs: deadline.remainingMs,
    random: Math.random(),
  });
  return { response, outcome, error: toError(exchange, response, outcome, context), retryDelayMs };
}
