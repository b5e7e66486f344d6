import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';

/**
 * Refuses a secret that can't be right. An empty one would make a signature that anybody can
 * forge; a blank at an edge is a copy-and-paste fault that shows only as mismatches later.
 *
 * @throws {InvalidOptionError} naming the option, never the value
 */
export function assertUsableSecret(secret: string | Uint8Array, option: string): void {
  if (typeof secret === 'string') {
    if (secret.trim() === '') {
      throw new InvalidOptionError(
        option,
        `${option} must not be empty, but ${describeValue(secret)} came`,
      );
    }
    if (secret.trim() !== secret) {
      throw new InvalidOptionError(
        option,
        `${option} must not begin or end with white space, but it does; trim it where it is read`,
      );
    }
  } else if (secret.byteLength === 0) {
    throw new InvalidOptionError(option, `${option} must not be empty, but no bytes came`);
  }
}

/** One secret or several, as a list; `[]` is refused, since it would accept nothing. */
export function listSecrets<Secret>(
  signingSecret: Secret | readonly Secret[],
): readonly { secret: Secret; option: string }[] {
  if (!Array.isArray(signingSecret)) {
    return [{ secret: signingSecret as Secret, option: 'signingSecret' }];
  }
  if (signingSecret.length === 0) {
    throw new InvalidOptionError(
      'signingSecret',
      'signingSecret must hold at least one secret, but an empty array came',
    );
  }
  return signingSecret.map((secret: Secret, index) => ({
    secret,
    option: `signingSecret[${index}]`,
  }));
}

/** @throws {InvalidOptionError} for a secret of a type that `accepted` does not list */
export function wrongSecretType(
  secret: unknown,
  option: string,
  accepted: string,
): InvalidOptionError {
  return new InvalidOptionError(
    option,
    `${option} must be ${accepted}, but ${describeValue(secret)} came`,
  );
}
