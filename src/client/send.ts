import {
  ApiError,
  describeIssues,
  type Issue,
  type MerchantPaymentsError,
  type RequestOutcome,
  ResponseError,
} from '../errors.js';
import type { Logger } from '../protocol/logger.js';
import { type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
import type { GiveUpReason } from './deadline.js';
import {
  advise,
  type FailureContext,
  givenUpError,
  joinSentences,
  outcomeOf,
  readRequestId,
  toError,
} from './failure.js';
import { type AttemptReport, type CallTrace, observe } from './observation.js';
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
  /** Undefined for a call without a listener when it began. */
  readonly call: CallTrace | undefined;
  readonly maxRetries: number;
  readonly retryUnknownOutcome: boolean;
  /** Aborted when the client is closed, after which nothing is retried. */
  readonly closing: AbortSignal;
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
    if (result.error === undefined) {
      const { status, headers } = result.answer;
      return { status, headers, body: result.body, attempts: attempt };
    }
    if (result.retryDelayMs === undefined) throw result.error;
    known = result.verdict.requestOutcome;
    await deadline.wait(result.retryDelayMs, closing);
    const reason = deadline.check();
    if (reason !== undefined) throw givenUpError(reason, result.verdict, context);
    if (closing.aborted) throw result.error;
  }
}

function judge(
  exchange: Exchange,
  context: SendContext,
  attempt: number,
  earlier: RequestOutcome,
): AttemptResult {
  const { request, deadline, maxRetries, retryUnknownOutcome, closing } = context;
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
  const verdict = await context.deadline.race(runSchema(response.body, schema, context));
  if (verdict === undefined) {
    throw givenUpError(context.deadline.gaveUp as GiveUpReason, ACCEPTED, context);
  }
  const { issues } = verdict;
  if (issues === undefined) return { ...response, body: verdict.value };
  const what = `The service answered with ${response.status}, but its body does not fit responseSchema: ${describeIssues(issues)}.`;
  throw new ResponseError(joinSentences(what, advise(ACCEPTED, context)), { ...ACCEPTED, issues });
}

interface Judgement {
  readonly value?: unknown;
  readonly issues: readonly Issue[] | undefined;
}

// The payment exists whatever a broken schema does: the outcome stays `accepted`.
async function runSchema(
  body: unknown,
  schema: StandardSchemaV1,
  context: FailureContext,
): Promise<Judgement> {
  try {
    const result = await schema['~standard'].validate(body);
    if (result.issues === undefined) return { value: result.value, issues: undefined };
    return { issues: redactIssues(toIssues(result.issues.slice(0, MAX_ISSUES)), context) };
  } catch {
    // Without the schema's error, which can quote the body.
    const what = 'responseSchema threw, or returned neither a value nor issues.';
    throw new ResponseError(joinSentences(what, advise(ACCEPTED, context)), ACCEPTED);
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
