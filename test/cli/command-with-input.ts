import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BIN, type Ended } from './command-process.js';

/** Runs the built command line with these bytes on its standard input. */
export async function runWithInput(
  args: readonly string[],
  input: string | Uint8Array,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended & { readonly bytes: Buffer }> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command that refuses its arguments does not read.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code, signal] = await once(child, 'close');
  const bytes = Buffer.concat(stdout);
  return {
    code,
    signal,
    bytes,
    stdout: bytes.toString(),
    stderr: Buffer.concat(stderr).toString(),
  };
}
