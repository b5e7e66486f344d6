import {
  ApiError,
  describeIssues,
  type Issue,
  type MerchantPaymentsError,
  type RequestOutcome,
  ResponseError,
  type ServiceResponse,
} from '../errors.js';
import type { Logger } from '../protocol/logger.js';
import { fieldOf, ownFields } from '../protocol/own-fields.js';
import { issuesOf, type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
import type { GiveUpReason } from './deadline.js';
import { readRequestId } from './error-body.js';
import {
  advise,
  type FailureContext,
  givenUpError,
  joinSentences,
  outcomeOf,
  toError,
} from './failure.js';
import { type AttemptReport, type CallTrace, observe } from './observation.js';
import { isOfAnother, toResponse } from './response.js';
import {
  combineOutcomes,
  decideRetry,
  isSafeToRetry,
  parseRetryAfter,
  type Verdict,
} from './retry.js';
import { completeAnswer } from './transport/answer-body.js';
import type { Answer, Exchange, Transport } from './transport/transport.js';

export interface SendContext extends FailureContext {
  readonly transport: Transport;
  readonly logger: Logger | undefined;
  /** Undefined for a call without a listener when it began. */
  readonly call: CallTrace | undefined;
  readonly maxRetries: number;
  readonly retryUnknownOutcome: boolean;
  /** Aborted when the client is closed, after which nothing is retried. */
  readonly closing: AbortSignal;
}

type AttemptResult = Success | FailedAttempt;

interface Success {
  readonly response: ServiceResponse;
  readonly error: undefined;
}

interface FailedAttempt {
  readonly answer: Answer | undefined;
  readonly error: MerchantPaymentsError;
  /** After this and all earlier attempts. */
  readonly verdict: Verdict;
  readonly retryDelayMs: number | undefined;
}

/**
 * Sends a prepared request until it succeeds, must not be sent again, or the deadline passes.
 *
 * @throws {MerchantPaymentsError} with the outcome of all attempts together
 */
export async function send(context: SendContext): Promise<ServiceResponse> {
  const { request, deadline, transport, logger, call, closing } = context;
  let known: RequestOutcome = 'not-sent';
  for (let attempt = 1; ; attempt += 1) {
    const earlier = known;
    const sendOnce = async (): Promise<AttemptResult> =>
      judge(await transport.send(request, deadline), context, attempt, earlier);
    const result = await (call === undefined
      ? sendOnce()
      : observe(call, logger, sendOnce, (done) => toReport(done, context)));
    if (result.error === undefined) return result.response;
    if (result.retryDelayMs === undefined) throw result.error;
    known = result.verdict.requestOutcome;
    await deadline.wait(result.retryDelayMs, closing);
    const reason = deadline.check();
    if (reason !== undefined) throw givenUpError(reason, result.verdict, context);
    if (closing.aborted) throw result.error;
  }
}

function judge(
  received: Exchange,
  context: SendContext,
  attempt: number,
  earlier: RequestOutcome,
): AttemptResult {
  const { request, deadline, transport, maxRetries, retryUnknownOutcome, closing } = context;
  const exchange =
    received.kind === 'answer'
      ? completeAnswer(received, request.method, transport.answerRules)
      : received;
  const own = outcomeOf(exchange);
  if (own === undefined) {
    return { response: toResponse(exchange as Answer, attempt), error: undefined };
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
  const refuse = exchange.kind === 'failure' ? ownFields(exchange).refuse : undefined;
  if (refuse !== undefined) {
    const error = refuse(verdict);
    return { answer, error, verdict, retryDelayMs: undefined };
  }
  const retryDelayMs = decideRetry(
    {
      ...failed,
      gaveUp: deadline.gaveUp !== undefined || closing.aborted,
      retryAfterSeconds: parseRetryAfter(answer?.headers ?? {}, Date.now()),
    },
    {
      attempt,
      maxRetries,
      retryUnknownOutcome,
      remainingMs: deadline.remainingMs,
      random: Math.random(),
    },
  );
  return {
    answer,
    error: toError(exchange, verdict, { ...context, attempt }),
    verdict,
    retryDelayMs,
  };
}

function toReport(result: AttemptResult, context: FailureContext): AttemptReport {
  if (result.error === undefined) {
    return {
      status: result.response.status,
      requestId: readRequestId(result.response.body, result.response.headers, context),
      isOfAnother: isOfAnother(result.response),
      outcome: 'accepted',
      failure: undefined,
    };
  }
  const { answer, error, verdict, retryDelayMs } = result;
  return {
    status: answer?.status,
    requestId: error instanceof ApiError ? error.requestId : undefined,
    isOfAnother: false,
    outcome: verdict.requestOutcome,
    failure: { error, retried: retryDelayMs !== undefined },
  };
}

// A body of a megabyte can have half a million issues, and each is searched for secrets.
const MAX_ISSUES = 100;

// A retry can't help: the schema would refuse the same answer again.
const ACCEPTED: Verdict = { requestOutcome: 'accepted', safeToRetry: false };

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
  const verdict = await context.deadline.race(runSchema(response, schema, context));
  if (verdict === undefined) {
    throw givenUpError(context.deadline.gaveUp as GiveUpReason, ACCEPTED, context);
  }
  const { issues } = verdict;
  if (issues === undefined) return { ...response, body: verdict.value };
  const what = `The service answered with ${response.status}, but its body does not fit responseSchema: ${describeIssues(issues)}.`;
  throw new ResponseError(joinSentences(what, advise(ACCEPTED, context)), {
    ...ACCEPTED,
    issues,
    response,
  });
}

interface Judgement {
  readonly value?: unknown;
  readonly issues: readonly Issue[] | undefined;
}

// The payment exists whatever a broken schema does: the outcome stays `accepted`.
async function runSchema(
  response: ServiceResponse,
  schema: StandardSchemaV1,
  context: FailureContext,
): Promise<Judgement> {
  try {
    const result = await schema['~standard'].validate(response.body);
    const issues = issuesOf(result);
    if (issues !== undefined) {
      return { issues: redactIssues(toIssues(issues.slice(0, MAX_ISSUES)), context) };
    }
    return { value: fieldOf(result, 'value'), issues: undefined };
  } catch {
    // Without the schema's error, which can quote the body.
    const what = 'responseSchema threw, or returned neither a value nor issues.';
    throw new ResponseError(joinSentences(what, advise(ACCEPTED, context)), {
      ...ACCEPTED,
      response,
    });
  }
}

/** Redacts all texts at once, as a search takes time in proportion to the request's body. */
function redactIssues(
  issues: readonly Issue[],
  { credentials, request }: FailureContext,
): readonly Issue[] {
  // A field name of the answer is untrusted text, too.
  const texts = issues.flatMap(({ path, message }) => [...path.filter(isText), message]);
  const redacted = credentials.redactAll(texts, request.body).values();
  const next = (): string => redacted.next().value as string;
  return issues.map(({ path }) => ({
    path: path.map((key) => (isText(key) ? next() : key)),
    message: next(),
  }));
}

function isText(key: PropertyKey): key is string {
  return typeof key === 'string';
}
