import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
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
