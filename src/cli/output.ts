import { readSwitch } from './arguments.js';
import type { Arguments, Terminal } from './command.js';
import { plainJson } from './plain-text.js';

/** Writes a line to stdout. */
export function printLine({ stdout }: Terminal, line = ''): void {
  stdout.write(`${line}\n`);
}

/** Writes a line to stderr: progress and warnings. */
export function printNote({ stderr }: Terminal, line: string): void {
  stderr.write(`${line}\n`);
}

/** Writes JSON to stdout: indented on a terminal, else on one line. */
export function printJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${plainJson(value, stdout.isTTY ? 2 : 0)}\n`);
}

/** Whether the command was called with `--json`. */
export function wantsJson(given: Arguments): boolean {
  return readSwitch(given, 'json');
}
