import { describeIssues, ResponseError } from '../errors.js';
import { type StandardSchemaV1, toIssues } from '../protocol/standard-schema.js';
import type { GiveUpReason } from './deadline.js';
import { type FailureContext, givenUpError } from './failure.js';
import type { ServiceResponse } from './response.js';

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
  const result = await validate(response.body, schema, context);
  if (result === undefined) {
    throw givenUpError(context.deadline.gaveUp as GiveUpReason, 'accepted', context);
  }
  if (result.issues === undefined) return { ...response, body: result.value };
  const issues = toIssues(result.issues).map(({ path, message }) => ({
    path,
    message: context.credentials.redact(message, context.request.body),
  }));
  throw new ResponseError(
    `The service answered with ${response.status}, but its body does not fit responseSchema: ${describeIssues(issues)}. ${ADVICE}`,
    { requestOutcome: 'accepted', issues },
  );
}

async function validate(body: unknown, schema: StandardSchemaV1, { deadline }: FailureContext) {
  try {
    const result = schema['~standard'].validate(body);
    return result instanceof Promise ? await deadline.race(result) : result;
  } catch {
    // What the schema threw stays out: it can quote the body.
    throw new ResponseError(`responseSchema threw instead of returning issues. ${ADVICE}`, {
      requestOutcome: 'accepted',
    });
  }
}
