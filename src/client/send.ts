import {
  describeIssues,
  type Issue,
  type RequestOutcome,
  ResponseError,
  type ServiceResponse,
} from '../errors.js';
import { type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
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
import { type AttemptResult, type CallTrace, observe } from './observation.js';
import type { Call } from './prepared-request.js';
import { isPage, toResponse } from './response.js';
import {
  combineOutcomes,
  decideRetry,
  isSafeToRetry,
  parseRetryAfter,
  type Verdict,
} from './retry.js';
import { completeAnswer } from './transport/answer-body.js';
import { type Exchange, GIVEN_UP, type Transport } from './transport/transport.js';

export interface SendContext extends FailureContext {
  readonly call: Call;
  readonly trace: CallTrace;
  readonly transport: Transport;
  /** Aborted when the client is closed, after which nothing is retried. */
  readonly closing: AbortSignal;
}

// A retry can't help: what was accepted must not be sent again.
const ACCEPTED: Verdict = { requestOutcome: 'accepted', safeToRetry: false };

/**
 * Sends a prepared request until it succeeds, must not be sent again, or the deadline passes.
 *
 * @throws {MerchantPaymentsError} with the outcome of all attempts together
 */
export async function send(context: SendContext): Promise<ServiceResponse> {
  const { request, deadline, transport, closing } = context;
  const readId = ({ body, headers }: ServiceResponse) => readRequestId(body, headers, context);
  let known: RequestOutcome = 'not-sent';
  for (let attempt = 1; ; attempt += 1) {
    const earlier = known;
    const sendOnce = async () => {
      // A call may have ended while its transport was loaded, or during a stall of the event loop.
      const isOver = deadline.check() !== undefined;
      const exchange = isOver ? GIVEN_UP : await transport.send(request, deadline);
      return judge(exchange, context, attempt, earlier);
    };
    const result = await observe(context, sendOnce, readId);
    if (result.error === undefined) return result.response as ServiceResponse;
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
  const { call, request, deadline, transport, closing } = context;
  const completed =
    received.kind === 'answer'
      ? completeAnswer(received, request.method, transport.answerRules)
      : received;
  const response = completed.kind === 'answer' ? toResponse(completed, attempt) : undefined;
  // Any other operation may answer with a page.
  const exchange = call.operation === 'payments.create' ? markPage(completed, response) : completed;
  const answer = exchange.kind === 'answer' ? exchange : undefined;
  const own = outcomeOf(exchange);
  if (own === undefined) {
    return { response, verdict: ACCEPTED, error: undefined, retryDelayMs: undefined };
  }
  const requestOutcome = combineOutcomes(earlier, own);
  const bodyFailure = answer?.bodyFailure?.reason;
  const failed = {
    outcome: own,
    safe: request.safe,
    httpStatus: answer?.status,
    bodyLost: bodyFailure === 'lost' || bodyFailure === 'given-up',
  };
  const verdict = { requestOutcome, safeToRetry: isSafeToRetry(failed, requestOutcome) };
  const retryDelayMs = decideRetry(
    {
      ...failed,
      gaveUp: deadline.gaveUp !== undefined || closing.aborted,
      retryAfterSeconds: parseRetryAfter(answer?.headers ?? {}, Date.now()),
    },
    {
      attempt,
      maxRetries: call.options.maxRetries,
      mayRepeat: call.mayRepeat,
      remainingMs: deadline.remainingMs,
      random: Math.random(),
    },
  );
  return { response, verdict, error: toError(exchange, response, verdict, context), retryDelayMs };
}

function markPage(exchange: Exchange, response: ServiceResponse | undefined): Exchange {
  if (exchange.kind === 'failure') return exchange;
  return isPage(exchange, (response as ServiceResponse).text)
    ? { ...exchange, isPage: true }
    : exchange;
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
  throw new ResponseError(joinSentences(what, advise(ACCEPTED, context)), {
    ...ACCEPTED,
    response,
    ...(checked !== null && { issues: checked }),
  });
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
