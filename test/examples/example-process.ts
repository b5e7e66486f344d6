import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

export interface Example extends AsyncDisposable {
  /** The callback address that it printed. */
  readonly url: string;
  /** What it printed on standard output, line by line. */
  readonly lines: readonly string[];
  /** Settles when it has printed a line with this text. */
  printed(text: string): Promise<void>;
}

/** Starts an example as its first lines say, and waits until it tells its address. */
export async function startExample(
  file: string,
  env: Record<string, string | undefined>,
): Promise<Example> {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/${file}`], {
    env: { ...process.env, PORT: '0', NODE_ENV: 'test', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const errors: string[] = [];
  const watchers = new Set<() => void>();
  const notify = () => {
    for (const watch of watchers) watch();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(stripVTControlCharacters(line));
    notify();
  });
  createInterface({ input: child.stderr }).on('line', (line) => void errors.push(line));
  child.once('exit', notify);

  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const watch = () => {
        if (lines.some((line) => line.includes(text))) resolve();
        else if (hasEnded(child)) reject(new Error(`${file} ended:\n${errors.join('\n')}`));
        else return;
        watchers.delete(watch);
      };
      watchers.add(watch);
      watch();
    });

  await printed('http://');
  const [url = ''] = /http:\S+/.exec(lines.join('\n')) ?? [];
  return {
    url,
    lines,
    printed,
    // Each example is to end by itself when it is asked to.
    async [Symbol.asyncDispose]() {
      if (hasEnded(child)) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
