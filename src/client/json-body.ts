import { InvalidRequestError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';

/**
 * JSON of a value that the SDK does not know the shape of.
 *
 * @throws {InvalidRequestError} naming the place, when JSON can't carry the value: NaN and infinity would become
 * null in silence
 */
export function serializeJson(value: unknown, name: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseInexactNumbers);
  } catch (error) {
    if (error instanceof InvalidRequestError) throw error;
    // The engine's own message can quote keys of the value.
    throw new InvalidRequestError([
      {
        path: [name],
        message:
          'must be serializable as JSON, but it is circular, holds a BigInt, or its toJSON failed',
      },
    ]);
  }
  if (text !== undefined) return text;
  throw new InvalidRequestError([
    { path: [name], message: `must be serializable as JSON, but ${describeValue(value)} came` },
  ]);
}

function refuseInexactNumbers(key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new InvalidRequestError([
    { path: [key], message: `must be a finite number, but ${describeValue(value)} came` },
  ]);
}
