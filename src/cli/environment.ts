import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Redactor } from '../protocol/redaction.js';
import { isLoopback } from '../protocol/url.js';
import { UsageError } from './command.js';
import type { Terminal } from './output.js';

const OURS = 'MERCHANT_PAYMENTS_';
const BASE_URL = `${OURS}BASE_URL`;

/**
 * The environment, with the variables of a file that it lacks. Without `--env-file`, a `.env` does not
 * lead to the service: a payment created there may cost money.
 *
 * @throws {UsageError} when the file that was named can't be read
 */
export function readEnvironment(env: Terminal['env'], named: string | undefined): Terminal['env'] {
  const merged = { ...env };
  for (const [name, value] of Object.entries(readFile(named))) {
    // An empty variable is one that was not filled in.
    if (!name.startsWith(OURS) || merged[name]) continue;
    if (name === BASE_URL && named === undefined && !isOnThisMachine(value)) continue;
    merged[name] = value;
  }
  return merged;
}

function readFile(named: string | undefined): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(named ?? '.env', 'utf8'));
  } catch (error) {
    // None, or a folder of that name.
    if (named === undefined) return {};
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--env-file: reading ${named} failed with ${code}`);
  }
}

const isOnThisMachine = (url = ''): boolean =>
  URL.canParse(url) && isLoopback(new URL(url).hostname);

/** A shorter key may be a word of an honest text. */
const MIN_KEY_LENGTH = 12;

/**
 * A JSON value without the credentials, in whole and in part: another server than the service may
 * answer with the request it got. A short key stays: it is a user name, and often the beginning of
 * a shop's references.
 */
export function withoutCredentials(value: object, env: Terminal['env']): object {
  const apiKey = env['MERCHANT_PAYMENTS_API_KEY'] ?? '';
  const apiSecret = env['MERCHANT_PAYMENTS_API_SECRET'] ?? '';
  const pair = `${apiKey}:${apiSecret}`;
  const signingSecret = env['MERCHANT_PAYMENTS_SIGNING_SECRET'] ?? '';
  const secrets = [pair, Buffer.from(pair).toString('base64'), apiSecret, signingSecret];
  if (apiKey.length >= MIN_KEY_LENGTH) secrets.push(apiKey);
  const redactor = new Redactor(secrets.filter((secret) => secret !== ''));
  return mapTexts(value, (text) => redactor.redactAll([text])[0] ?? '') as object;
}

/** A JSON value with all its texts replaced, names of fields included. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [map(name), mapTexts(field, map)]),
  );
}
