import { describeIssues, type Issue, ResponseError, type ServiceResponse } from '../errors.js';
import { type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
import type { GiveUpReason } from './deadline.js';
import { advise, type FailureContext, givenUpError, joinSentences } from './failure.js';
import { ACCEPTED } from './retry.js';

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
