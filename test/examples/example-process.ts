import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify, stripVTControlCharacters } from 'node:util';

export interface Example extends AsyncDisposable {
  /** The callback address that it printed. */
  readonly url: string;
  /** What it printed on standard output, line by line. */
  readonly lines: readonly string[];
  /** What it printed on standard error. */
  readonly errors: readonly string[];
  /** Settles when it has printed a line with this text, on either. */
  printed(text: string): Promise<void>;
  /** Ends it, as asked or at once. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts an example, bundled by the global setup, and waits until it prints its address. */
export async function startExample(
  file: string,
  env: Record<string, string | undefined>,
  node: string = process.execPath,
): Promise<Example> {
  const child = spawn(node, [bundled(file)], {
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
  createInterface({ input: child.stderr }).on('line', (line) => {
    errors.push(stripVTControlCharacters(line));
    notify();
  });
  child.once('exit', notify);

  const printed = (text: string, where = () => [...lines, ...errors]) =>
    new Promise<void>((resolve, reject) => {
      const watch = () => {
        if (where().some((line) => line.includes(text))) resolve();
        else if (hasEnded(child)) reject(new Error(`${file} ended:\n${errors.join('\n')}`));
        else return;
        watchers.delete(watch);
      };
      watchers.add(watch);
      watch();
    });

  const stop = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (hasEnded(child)) return;
    child.kill(signal);
    await once(child, 'exit');
  };

  await printed('http://', () => lines);
  const [url = ''] = /http:\S+/.exec(lines.join('\n')) ?? [];
  return {
    url,
    lines,
    errors,
    printed,
    stop,
    // Each example is to end by itself when it is asked to.
    [Symbol.asyncDispose]: () => stop('SIGTERM'),
  };
}

/** Runs an example with arguments, to its end. */
export async function runExample(
  file: string,
  args: readonly string[],
  env: Record<string, string | undefined>,
  node: string = process.execPath,
): Promise<void> {
  await promisify(execFile)(node, [bundled(file), ...args], { env: { ...process.env, ...env } });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** The bundle of `express.ts` or another file of examples/. */
export function bundled(file: string): string {
  return path.join(process.env['TEST_PROGRAMS'] ?? '', 'examples', file.replace(/\.ts$/, '.js'));
}
