import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Redactor } from '../protocol/redaction.js';
import { isLoopback, parseUrl } from '../protocol/url.js';
import { UsageError } from './command.js';
import { pathOf, type Terminal } from './terminal.js';

const OURS = 'MERCHANT_PAYMENTS_';
const BASE_URL = `${OURS}BASE_URL`;

/**
 * Returns the environment, with the variables that it lacks from a file. A `.env` that `--dotenv` does
 * not name can't select a service on another machine, where a payment may cost money.
 */
export function readEnvironment(
  terminal: Pick<Terminal, 'env' | 'cwd'>,
  named: string | undefined,
): Terminal['env'] {
  const merged = { ...terminal.env };
  for (const [name, value] of Object.entries(readFile(terminal, named))) {
    // An empty variable counts as unset.
    if (!name.startsWith(OURS) || merged[name]) continue;
    if (name === BASE_URL && named === undefined && !isOnThisMachine(value)) continue;
    merged[name] = value;
  }
  return merged;
}

function readFile(
  terminal: Pick<Terminal, 'cwd'>,
  named: string | undefined,
): Record<string, string | undefined> {
  try {
    const bytes = readFileSync(pathOf(terminal, named ?? '.env'));
    // Without its byte order mark, which would become part of the first variable's name.
    return parseEnv(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A virtual environment of Python is often a folder of that name.
    if (named === undefined && (code === 'ENOENT' || code === 'EISDIR')) return {};
    throw new UsageError(
      named === undefined
        ? `reading .env failed with ${code}: make it a readable file in UTF-8, or name another with --dotenv`
        : `--dotenv: reading ${named} failed with ${code}`,
    );
  }
}

const isOnThisMachine = (url = ''): boolean => isLoopback(parseUrl(url)?.hostname ?? '');

/** A shorter key may be an ordinary word. */
const MIN_KEY_LENGTH = 12;

interface Credentials {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly signingSecret: string | undefined;
}

/**
 * Removes the credentials, and parts of them, from a JSON value, since a server that is not the service may echo the
 * request. A short key stays: it is a user name, and often the prefix of a shop's references.
 */
export function withoutCredentials<Value>(
  value: Value,
  { apiKey, apiSecret, signingSecret }: Credentials,
): Value {
  const pair = `${apiKey}:${apiSecret}`;
  const secrets = [pair, Buffer.from(pair).toString('base64'), apiSecret];
  if (signingSecret !== undefined) secrets.push(signingSecret);
  if (apiKey.length >= MIN_KEY_LENGTH) secrets.push(apiKey);
  const redactor = new Redactor(secrets);
  return mapTexts(value, (text) => redactor.redactAll([text])[0] ?? '') as Value;
}

/** Maps every string in a JSON value, field names included. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [map(name), mapTexts(field, map)]),
  );
}
