import { describeIssues, type Issue, ResponseError } from '../errors.js';
import { type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
import type { GiveUpReason } from './deadline.js';
import { type FailureContext, givenUpError } from './failure.js';
import type { ServiceResponse } from './response.js';

// An answer of a megabyte can have half a million of them, and each is searched for secrets.
const MAX_ISSUES = 100;

const ADVICE = 'The service accepted the request: do not send it again.';

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
    throw givenUpError(context.deadline.gaveUp as GiveUpReason, 'accepted', context);
  }
  const { issues } = verdict;
  if (issues === undefined) return { ...response, body: verdict.value };
  throw new ResponseError(
    `The service answered with ${response.status}, but its body does not fit responseSchema: ${describeIssues(issues)}. ${ADVICE}`,
    { requestOutcome: 'accepted', issues },
  );
}

interface Verdict {
  readonly value?: unknown;
  readonly issues: readonly Issue[] | undefined;
}

// Whatever a broken schema does, the payment exists: nothing but an `accepted` may come of it.
async function judge(
  body: unknown,
  schema: StandardSchemaV1,
  { credentials, request }: FailureContext,
): Promise<Verdict> {
  try {
    const result = await schema['~standard'].validate(body);
    if (result.issues === undefined) return { value: result.value, issues: undefined };
    const redact = (text: string) => credentials.redact(text, request.body);
    const issues = toIssues(result.issues.slice(0, MAX_ISSUES)).map(({ path, message }) => ({
      // A name in the answer is a text from outside, too.
      path: path.map((key) => (typeof key === 'string' ? redact(key) : key)),
      message: redact(message),
    }));
    return { issues };
  } catch {
    // What the schema threw stays out: it can quote the body.
    throw new ResponseError(
      `responseSchema threw or answered with no result, instead of returning a value or issues. ${ADVICE}`,
      { requestOutcome: 'accepted' },
    );
  }
}
