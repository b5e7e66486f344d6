import path from 'node:path';
import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { plainJson } from '../protocol/plain-text.js';

/** The part of `process` that is about signals. */
export interface StoppableProcess {
  readonly pid?: number;
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
}

/** What a command has of its process; tests give their own. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths begin at. */
  readonly cwd: string;
  readonly signals: StoppableProcess;
}

export const terminalOf = (process: NodeJS.Process): Terminal => ({
  // A getter: reading it opens standard input, which few commands need.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  signals: process,
});

/** Returns the absolute path of a file that the user names. */
export const pathOf = ({ cwd }: Pick<Terminal, 'cwd'>, file: string): string =>
  path.resolve(cwd, file);

/** Writes a line to stdout. */
export function printLine({ stdout }: Terminal, line: string): void {
  stdout.write(`${line}\n`);
}

/** Writes a line to stderr: progress and warnings. */
export function printNote({ stderr }: Terminal, line: string): void {
  stderr.write(`${line}\n`);
}

/** Writes JSON to stdout: indented on a terminal, otherwise on one line. */
export function printJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${plainJson(value, stdout.isTTY ? 2 : 0)}\n`);
}

/** `1 fault`, `2 faults`. */
export const countOf = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

/** The styles the command line uses. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Styles a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

/**
 * Returns a function that styles text for a stream: in colour if the stream is a terminal with colours,
 * otherwise unchanged. As in Node, FORCE_COLOR applies to pipes too, and NO_COLOR and CI to terminals.
 */
export function createPaint(stream: NodeJS.WriteStream, env: Terminal['env'] = process.env): Paint {
  const hasColors = stream.isTTY
    ? stream.hasColors(env)
    : env['FORCE_COLOR'] !== undefined && WriteStream.prototype.getColorDepth(env) > 2;
  // Not left to styleText: newer versions look at stdout, whatever the stream.
  return hasColors
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}

/**
 * Runs `work` until SIGINT or SIGTERM aborts it, or `stdout` is no longer read, so that it can end in order. The
 * second signal ends the process at once, in case that takes long.
 */
export async function interruptible<Result>(
  { signals, stdout }: Pick<Terminal, 'signals' | 'stdout'>,
  work: (signal: AbortSignal, stop: () => void) => Promise<Result>,
): Promise<Result> {
  const stopping = new AbortController();
  // The system ends a process at SIGHUP, unless nohup started it or it is the first process of a container.
  const names = ['SIGINT', 'SIGTERM', ...(signals.pid === 1 ? ['SIGHUP'] : [])] as const;
  const unlisten = () => {
    for (const name of names) signals.off(name as NodeJS.Signals, stop);
  };
  const stop = () => {
    // Without a listener, Node ends the process at the next signal.
    unlisten();
    stopping.abort();
  };
  for (const name of names) signals.on(name as NodeJS.Signals, stop);
  stdout.once('error', stop);
  try {
    return await work(stopping.signal, stop);
  } finally {
    unlisten();
    stdout.off('error', stop);
  }
}
