import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Terminal } from './terminal.js';

export const UP = '\u001b[A';
export const DOWN = '\u001b[B';
/** In raw mode the terminal sends no signal, but this. */
export const CTRL_C = '\u0003';

const CLEAR_LINE = '\r\u001b[K';

/**
 * Runs the action of a key when it is pressed. Only in the foreground of a terminal: the system stops a
 * background program that reads keys.
 *
 * @returns a function that stops listening; `undefined` where no keys can be read
 */
export async function listenToKeys(
  { stdin, stdout }: Pick<Terminal, 'stdin' | 'stdout'>,
  actions: Readonly<Record<string, () => void>>,
): Promise<(() => void) | undefined> {
  if (!stdin.isTTY || !stdout.isTTY || !(await isInForeground())) return undefined;
  const press = (keys: string) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an arrow is three characters.
    for (const [key] of keys.matchAll(/\u001b\[[A-Z]|./gs)) {
      if (Object.hasOwn(actions, key)) actions[key]?.();
    }
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', press);
  return () => {
    stdin.off('data', press).pause().setRawMode(false);
  };
}

async function isInForeground(): Promise<boolean> {
  if (process.platform === 'win32') return true;
  const args = ['-o', 'pgid=', '-o', 'tpgid=', '-p', String(process.pid)];
  const { stdout } = await promisify(execFile)('ps', args).catch(() => ({ stdout: '' }));
  const [group, foreground] = stdout.trim().split(/\s+/);
  return group === foreground;
}

/** Output whose last line may be rewritten, as the selection of a list: lines are printed above it. */
export class StickyOutput {
  readonly #stdout: NodeJS.WriteStream;
  #last = '';

  constructor(stdout: NodeJS.WriteStream) {
    this.#stdout = stdout;
  }

  print(line: string): void {
    const isShown = this.#last !== '';
    this.#stdout.write(isShown ? `${CLEAR_LINE}${line}\n${this.#last}` : `${line}\n`);
  }

  /** Shows a line below all others; an empty one hides it. */
  stick(line: string): void {
    if (line === this.#last) return;
    this.#stdout.write(`${CLEAR_LINE}${line}`);
    this.#last = line;
  }
}
