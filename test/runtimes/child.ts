import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

// Far above what cases need: a process that hangs is ended, and fails.
const DEADLINE_MS = 180_000;

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly deadlineMs?: number;
}

/** Runs a program to its end. */
export async function run(
  binary: string,
  args: readonly string[],
  { cwd, env = {}, deadlineMs = DEADLINE_MS }: RunOptions,
): Promise<Ended> {
  const child = spawn(binary, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ]);
  return { stdout, stderr, code };
}

async function textOf(stream: Readable): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of stream.setEncoding('utf8')) pieces.push(piece);
  return pieces.join('');
}

/** The next lines of JSON that a program prints. */
export async function readLines(stream: Readable, count: number): Promise<readonly unknown[]> {
  const lines: unknown[] = [];
  for await (const line of createInterface({ input: stream })) {
    lines.push(JSON.parse(line));
    if (lines.length === count) return lines;
  }
  throw new Error(`ended after ${JSON.stringify(lines)}`);
}

/** Ends a program that does not end by itself. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'close');
}
