import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Terminal } from './terminal.js';

/** In raw mode the terminal sends no signal, but this. */
export const CTRL_C = '\u0003';

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
    for (const key of keys) if (Object.hasOwn(actions, key)) actions[key]?.();
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

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

/** Opens an address in the browser. Resolves with whether a program for that was there. */
export async function openInBrowser(url: string, { env }: Pick<Terminal, 'env'>): Promise<boolean> {
  const opener = OPENERS[process.platform] ?? 'xdg-open';
  return promisify(execFile)(opener, [url], { env: { ...env } }).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}
