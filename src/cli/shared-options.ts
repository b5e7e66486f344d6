import { open } from 'node:fs/promises';
import type { ServiceProfile } from 'merchant-payments/mock-server';
import { LONGEST_TIMER_MS } from '../protocol/options.js';
import { serviceProfile } from '../protocol/service-profile.js';
import {
  list,
  type Option,
  type Outcome,
  parsed,
  text,
  UsageError,
  withDefault,
} from './command.js';
import { type Column, formatTable } from './layout.js';
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

export const portOption = (help: string): Option<number | undefined> =>
  wholeNumber({ value: 'port', help }, { max: 65_535 });

export const hostOption = withDefault(
  text({
    value: 'address',
    help: 'The address to listen on. Default: 127.0.0.1, which only this machine reaches.',
  }),
  '127.0.0.1',
);

/** `--timeout` in milliseconds. */
export const timeoutOption = (help: string, fallback: number): Option<number> =>
  withDefault(
    wholeNumber(
      { value: 'ms', help: `${help} Default: ${fallback}` },
      { min: 1, max: LONGEST_TIMER_MS },
    ),
    fallback,
  );

/** `--limit` of the lists. */
export const limitOption = withDefault(
  wholeNumber(
    { value: 'n', help: 'At most so many, 1 to 1000. Default: 100' },
    { min: 1, max: 1_000 },
  ),
  100,
);

/** A page of a list as a table; below it, how many more there are. */
export function showPage<Row>(
  page: { readonly total: number },
  rows: readonly Row[],
  { columns, none }: { readonly columns: readonly Column<Row>[]; readonly none: string },
): Outcome {
  if (rows.length === 0) return { json: page, note: none };
  return {
    json: page,
    lines: (layout) => formatTable(columns, rows, layout),
    note: page.total > rows.length ? `${rows.length} of ${page.total} are shown.` : undefined,
  };
}

const MAX_BYTES = 1_048_576;

/** @throws {UsageError} when the file of `--profile` can't be read, or holds no profile */
export async function readProfile(path: string): Promise<ServiceProfile> {
  const refuse = (reason: string) => new UsageError(`--profile: ${reason}`);
  const bytes = await readFileStart(path).catch(({ code }: NodeJS.ErrnoException) => {
    throw refuse(`reading ${path} failed with ${code}`);
  });
  if (bytes.byteLength > MAX_BYTES) throw refuse(`the file is over ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw refuse('the file is not JSON');
  }
  return serviceProfile(value, 'profile');
}

async function readFileStart(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
  return buffer.subarray(0, bytesRead);
}
