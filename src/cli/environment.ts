import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from './command.js';
import { pathOf, type Terminal } from './terminal.js';

const OURS = 'MERCHANT_PAYMENTS_';

/** Returns the environment, with the variables that it lacks from a file: by default from `.env`. */
export function readEnvironment(
  terminal: Pick<Terminal, 'env' | 'cwd'>,
  named: string | undefined,
): Terminal['env'] {
  const merged = { ...terminal.env };
  for (const [name, value] of Object.entries(readFile(terminal, named))) {
    // An empty variable counts as unset.
    if (name.startsWith(OURS) && !merged[name]) merged[name] = value;
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
