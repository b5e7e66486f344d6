import { list, type Option, parsed, text, UsageError, withDefault } from './command.js';
import { parseOneOf, parseWholeNumber } from './option-values.js';
import type { Terminal } from './output.js';

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';
const HELP = `The signing secret. Default and safer place: ${VARIABLE}, since a flag is visible in the list of processes.`;

/** `--signing-secret` of commands that sign. */
export const signingSecretOption = text({ value: 'secret', help: HELP });

/** `--signing-secret` of commands that verify. */
export const signingSecretsOption = list({
  value: 'secret',
  help: `${HELP} Several while rotating.`,
  sets: 'signingSecret',
});

/**
 * The signing secret that was given, or that of the environment.
 *
 * @throws {UsageError} when there is none
 */
export function requireSigningSecret(given: string | undefined, { env }: Terminal): string {
  const secret = given ?? env[VARIABLE];
  if (secret !== undefined && secret !== '') return secret;
  throw new UsageError(
    `the signing secret is missing: set ${VARIABLE} in the environment or in .env, or give --env-file or --signing-secret`,
  );
}

/** An option with a few values, the first of which is its default. */
export function choice<const Value extends string>(
  help: string,
  values: readonly [Value, ...Value[]],
): Option<Value> {
  const option = parsed(
    { value: values.join('|'), choices: values, help: `${help} Default: ${values[0]}` },
    (name, given) => parseOneOf(name, given, values),
  );
  return withDefault(option, values[0]);
}

export const signatureEncodingOption = choice('Encoding of the signature.', [
  'hex',
  'base64',
  'base64url',
]);

export const timestampUnitOption = choice('Unit of X-Timestamp.', ['seconds', 'milliseconds']);

/** A whole number in a range that the help states. `undefined` when it was not given. */
export const wholeNumber = (
  help: { readonly value: string; readonly help: string; readonly sets?: string },
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): Option<number | undefined> =>
  parsed(help, (name, given) => parseWholeNumber(name, given, { min, max }));

/** `--limit` of the lists. */
export const limitOption = withDefault(
  wholeNumber(
    { value: 'n', help: 'At most so many, 1 to 1000. Default: 100' },
    { min: 1, max: 1_000 },
  ),
  100,
);
