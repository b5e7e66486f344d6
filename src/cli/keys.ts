import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import type { Terminal } from './output.js';

const CTRL_C = '\u0003';

/**
 * Calls what belongs to a key that is pressed. Only on a terminal, and only in its foreground: a
 * program behind `&` that reads the keys is stopped by the system.
 *
 * @returns what ends it; `undefined` where there are no keys
 */
export async function listenToKeys(
  { stdin, stdout }: Pick<Terminal, 'stdin' | 'stdout'>,
  actions: Readonly<Record<string, () => void>>,
): Promise<(() => void) | undefined> {
  if (!stdin.isTTY || !stdout.isTTY || !(await isInForeground())) return undefined;
  const press = (keys: string) => {
    for (const key of keys) {
      // Without line editing the terminal makes no signal of it.
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT');
      else if (Object.hasOwn(actions, key)) actions[key]?.();
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

/** Has the system open an address. That it can't is not known. */
export function openInBrowser(url: string): void {
  const openers: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' };
  spawn(openers[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
