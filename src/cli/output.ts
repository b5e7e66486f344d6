import path from 'node:path';
import { styleText } from 'node:util';
import type { StoppableProcess } from './process-signals.js';

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
 * otherwise unchanged. NO_COLOR and FORCE_COLOR apply as in Node.
 */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  // Not left to styleText: newer versions look at stdout, whatever the stream.
  return stream.isTTY && stream.hasColors()
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}

// Controls, format characters (bidi overrides, zero-width spaces, tags), line and paragraph
// separators, and halves of surrogate pairs. Not the two joiners, which scripts and emoji need.
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Makes text from outside safe to print, on one line: control characters, bidi overrides and line breaks
 * are escaped, such as `\x1b` and `\u202e`.
 */
export function plainText(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? escapeCharacter(character));
}

/** Writes JSON with the same characters escaped; it parses to the same value. */
export function plainJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(UNPRINTABLE, (character) =>
    // Only indentation has raw line breaks: JSON escapes those inside strings.
    character === '\n' ? character : escapeUnits(character),
  );
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) as number;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : escapeUnits(character);
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
