import { readList, readText } from './arguments.js';
import { type Arguments, type OptionSpec, type Terminal, UsageError } from './command.js';

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';

/** The option of commands that sign. */
export const signingSecretOption: OptionSpec = {
  type: 'string',
  value: 'secret',
  help: `The signing secret. Default and safer place: ${VARIABLE}, since a flag is visible in the list of processes.`,
};

/** The option of commands that verify. */
export const signingSecretsOption: OptionSpec = {
  ...signingSecretOption,
  multiple: true,
  help: `${signingSecretOption.help} Several while rotating.`,
};

/** @throws {UsageError} when none is given */
export function readSigningSecret(given: Arguments, { env }: Terminal): string {
  const secret = readText(given, 'signing-secret') ?? env[VARIABLE];
  if (secret === undefined || secret === '') throw missingSecret();
  return secret;
}

/** @throws {UsageError} when none is given */
export function readSigningSecrets(
  given: Arguments,
  { env }: Terminal,
): string | readonly string[] {
  const secrets = readList(given, 'signing-secret');
  if (secrets.length > 1) return secrets;
  const secret = secrets[0] ?? env[VARIABLE];
  if (secret === undefined || secret === '') throw missingSecret();
  return secret;
}

function missingSecret(): UsageError {
  return new UsageError(
    `the signing secret is missing: set ${VARIABLE}, or give --signing-secret; a .env file is not read by the command line: run \`export ${VARIABLE}=…\` before, or \`node --env-file=.env node_modules/merchant-payments/dist/cli/main.js …\` instead`,
  );
}
