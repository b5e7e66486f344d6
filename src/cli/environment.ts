import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Redactor } from '../protocol/redaction.js';
import { isLoopback } from '../protocol/url.js';
import { UsageError } from './command.js';
import { pathOf, type Terminal } from './output.js';

const OURS = 'MERCHANT_PAYMENTS_';
const BASE_URL = `${OURS}BASE_URL`;

/**
 * Returns the environment, with the variables that it lacks from a file. A `.env` that `--env-file` does
 * not name can't select a service on another machine, where a payment may cost money.
 *
 * @throws {UsageError} when a file can't be read, except for a `.env` that does not exist, or is in UTF-16
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
  const source = named === undefined ? '.env' : `--env-file: ${named}`;
  let bytes: Buffer;
  try {
    bytes = readFileSync(pathOf(terminal, named ?? '.env'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (named === undefined && code === 'ENOENT') return {};
    throw new UsageError(
      named === undefined
        ? `reading .env failed with ${code}: make it a readable file, or name another with --env-file`
        : `--env-file: reading ${named} failed with ${code}`,
    );
  }
  if (isUtf16(bytes)) {
    throw new UsageError(`${source} must be in UTF-8; received UTF-16: save it as UTF-8`);
  }
  // Without its byte order mark, which would become part of the first variable's name.
  return parseEnv(new TextDecoder().decode(bytes));
}

/** UTF-16 begins with a byte order mark, or has NUL bytes, which no environment variable can hold. */
function isUtf16(bytes: Buffer): boolean {
  const mark = bytes.subarray(0, 2).toString('hex');
  return mark === 'fffe' || mark === 'feff' || bytes.includes(0);
}

const isOnThisMachine = (url = ''): boolean =>
  URL.canParse(url) && isLoopback(new URL(url).hostname);

/** A shorter key may be an ordinary word. */
const MIN_KEY_LENGTH = 12;

/**
 * Removes the credentials, and parts of them, from a JSON value: a server that is not the service may
 * echo the request. A short key stays: it is a user name, and often the prefix of a shop's references.
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

/** Maps every string in a JSON value, field names included. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [map(name), mapTexts(field, map)]),
  );
}
