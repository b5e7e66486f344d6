import { describeIssues, type Issue, ResponseError } from '../errors.js';
import { type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
import type { GiveUpReason } from './deadline.js';
import { advise, type FailureContext, givenUpError, joinSentences } from './failure.js';
import type { ServiceResponse } from './response.js';
import type { Verdict } from './retry.js';

// An answer of a megabyte can have half a million of them, and each is searched for secrets.
const MAX_ISSUES = 100;

// The schema would judge the same answer in the same way.
const ACCEPTED: Verdict = { requestOutcome: 'accepted', safeToRetry: false };

/**
 * Runs the user's own schema over the body of a 2xx, inside the call's deadline.
 *
 * @throws {ResponseError} when the schema finds issues or fails; the service accepted the request all the same
 */
export async function applyResponseSchema(
  response: ServiceResponse,
  schema: StandardSchemaV1,
  context: FailureContext,
): Promise<ServiceResponse> {
  const verdict = await context.deadline.race(judge(response.body, schema, context));
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

// Whatever a broken schema does, the payment exists: nothing but an `accepted` may come of it.
async function judge(
  body: unknown,
  schema: StandardSchemaV1,
  context: FailureContext,
): Promise<Judgement> {
  try {
    const result = await schema['~standard'].validate(body);
    if (result.issues === undefined) return { value: result.value, issues: undefined };
    return { issues: redactIssues(toIssues(result.issues.slice(0, MAX_ISSUES)), context) };
  } catch {
    // What the schema threw stays out: it can quote the body.
    const what =
      'responseSchema threw or answered with no result, instead of returning a value or issues.';
    throw new ResponseError(joinSentences(what, advise(ACCEPTED, context)), ACCEPTED);
  }
}

/** All texts at once: each search takes time in proportion to the request's body. */
function redactIssues(
  issues: readonly Issue[],
  { credentials, request }: FailureContext,
): readonly Issue[] {
  // A name in the answer is a text from outside, too.
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
