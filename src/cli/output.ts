import { styleText } from 'node:util';

/** Where a command reads from and writes to. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Writes a line to stdout. */
export function printLine({ stdout }: Terminal, line: string): void {
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

/** `1 fault`, `2 faults`. */
export const countOf = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

/** The styles the command line uses. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Styles a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/**
 * Colours for a stream that is a terminal which has them; NO_COLOR and FORCE_COLOR are heeded as
 * Node heeds them. For any other stream the text stays as it is.
 */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  // Whether the stream takes colours is decided here: newer versions of styleText look at stdout.
  return stream.isTTY && stream.hasColors()
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}

// Controls, format characters (bidi overrides, zero-width spaces, tags), line and paragraph
// separators, and halves of surrogate pairs. Not the two joiners, which scripts and emoji need.
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text from outside as one line that can't drive the terminal: control characters, bidi overrides
 * and line breaks are written as escapes, such as `\x1b` and `\u202e`.
 */
export function plainText(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? escapeCharacter(character));
}

/** JSON of a value, with the same characters escaped, so that it parses to the same value. */
export function plainJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(UNPRINTABLE, (character) =>
    // The line breaks of the indentation: inside a string JSON has escaped its own.
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
