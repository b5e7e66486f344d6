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
import { pathOf, type Terminal } from './output.js';

const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';
const HELP = `The signing secret. Default: ${VARIABLE}, which is safer: a flag is visible in the process list.`;

/** `--signing-secret` of commands that sign. */
export const signingSecretOption = text({ value: 'secret', help: HELP });

/** `--signing-secret` of commands that verify. */
export const signingSecretsOption = list({
  value: 'secret',
  help: `${HELP} May be repeated while secrets rotate.`,
  sets: 'signingSecret',
});

/**
 * Returns the given signing secret, or the one in the environment.
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

/** An option with a fixed set of values; the first is the default. */
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

export const signatureEncodingOption = choice('The encoding of the signature.', [
  'hex',
  'base64',
  'base64url',
]);

export const timestampUnitOption = choice('The unit of X-Timestamp.', ['seconds', 'milliseconds']);

/** A whole number in a range, which the help must state; `undefined` when it is missing. */
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

/** `--timeout` of the commands that send requests. */
export const timeoutOption = (fallback: number): Option<number> =>
  withDefault(
    wholeNumber(
      {
        value: 'ms',
        help: `The time limit for each answer, in milliseconds. Default: ${fallback}`,
      },
      { min: 1, max: LONGEST_TIMER_MS },
    ),
    fallback,
  );

/** `--limit` of the lists. */
export const limitOption = withDefault(
  wholeNumber(
    { value: 'n', help: 'The number of entries to show, 1 to 1000. Default: 100' },
    { min: 1, max: 1_000 },
  ),
  100,
);

/** Shows a page of a list as a table; the note says how many entries there are in all. */
export function showPage<Row>(
  page: { readonly total: number },
  rows: readonly Row[],
  { columns, none }: { readonly columns: readonly Column<Row>[]; readonly none: string },
): Outcome {
  if (rows.length === 0) return { json: page, note: none };
  return {
    json: page,
    lines: (layout) => formatTable(columns, rows, layout),
    note: page.total > rows.length ? `${rows.length} of ${page.total} shown` : undefined,
  };
}

const MAX_BYTES = 1_048_576;

/**
 * Reads the file of `--profile`.
 *
 * @throws {UsageError} when it can't be read, or is not JSON
 * @throws {InvalidOptionError} when it is not a profile
 */
export async function readProfile(path: string, terminal: Terminal): Promise<ServiceProfile> {
  const refuse = (reason: string) => new UsageError(`--profile: ${reason}`);
  const bytes = await readFileStart(pathOf(terminal, path)).catch(
    ({ code }: NodeJS.ErrnoException) => {
      throw refuse(`reading ${path} failed with ${code}`);
    },
  );
  if (bytes.byteLength > MAX_BYTES) throw refuse(`the file has more than ${MAX_BYTES} bytes`);
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
