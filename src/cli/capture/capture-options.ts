import { readText } from '../arguments.js';
import { type Arguments, type Terminal, UsageError } from '../command.js';
import type { CapturedCallback, HeaderPair } from './captured-callback.js';
import { parseHeaderFile, parseHttpMessage } from './http-message.js';
import { readInput } from './input.js';
import { parseJsonCapture, parseJsonHeaders } from './json-capture.js';

type Parser = (source: Buffer) => CapturedCallback;

const headersOnly: Parser = (source) => ({
  headers: parseHeaders(source),
  body: { kind: 'none', remedy: '--headers-file gives no body: give --body-file too' },
  notes: [],
});

/** What can name a capture, and how it is read. */
const parserOfOption: Readonly<Record<string, Parser>> = {
  'headers-file': headersOnly,
  'http-file': parseHttpMessage,
  'json-file': parseJsonCapture,
};

/**
 * The captured callback that the options name; without any, that of standard input.
 *
 * @throws {UsageError} when it can't be read, or the options contradict each other
 */
export async function readCapture(given: Arguments, terminal: Terminal): Promise<CapturedCallback> {
  const named = Object.keys(parserOfOption).filter((name) => readText(given, name) !== undefined);
  const bodyPath = readText(given, 'body-file');
  assertOneSource(given, named);
  const [option] = named;
  const captured = await readSource({ option, given, terminal });
  if (bodyPath === undefined) return captured;
  const bytes = await readInput(
    { option: '--body-file', path: bodyPath, what: 'the body' },
    terminal,
  );
  // What was noted was said of the other body.
  return { headers: captured.headers, body: { kind: 'bytes', bytes }, notes: [] };
}

function assertOneSource({ values, positionals }: Arguments, named: readonly string[]): void {
  const [word] = positionals;
  if (positionals.length > 1 || (word !== undefined && word !== '-')) {
    throw new UsageError(
      'beside the options only - is expected, for standard input; give a file by --http-file or --json-file',
    );
  }
  const captures = [...named.map((name) => `--${name}`), ...positionals];
  if (captures.length > 1) {
    const all = captures.join(' and ');
    throw new UsageError(`${all} each give a capture: give one of them`);
  }
  const readers = [word, ...[...named, 'body-file'].map((name) => values[name])];
  const usesStdin = readers.filter((path) => path === '-').length;
  const isStdinImplied = named.length === 0 && word === undefined ? 1 : 0;
  if (usesStdin + isStdinImplied > 1) {
    throw new UsageError(
      'standard input can be read once: name a file for the headers, or for the body',
    );
  }
}

interface Source {
  readonly option: string | undefined;
  readonly given: Arguments;
  readonly terminal: Terminal;
}

async function readSource({ option, given, terminal }: Source): Promise<CapturedCallback> {
  const what = option === 'headers-file' ? 'the headers' : 'the callback';
  const path = option === undefined ? '-' : (readText(given, option) ?? '-');
  const parse = parserOfOption[option ?? ''] ?? parseCapture;
  const source = await readInput({ option: `--${option ?? 'http-file'}`, path, what }, terminal);
  if (path === '-' && !/\S/.test(source.toString('latin1'))) {
    throw new UsageError(
      `standard input is empty, but ${what} should be there: pipe in what was captured, or name a file; see --help`,
    );
  }
  return parse(source);
}

/** Bytes that tell what a capture is. */
const HEAD_BYTES = 1_024;

/**
 * Reads a capture of a form that is not named: JSON, or else an HTTP message.
 *
 * @throws {UsageError} when it cannot be read
 */
export function parseCapture(source: Buffer): CapturedCallback {
  const head = textHead(source);
  if (head.startsWith('{')) return parseJsonCapture(source);
  // What the dashboard and callback sign offer to copy.
  if (/^(?:\$ +)?curl\s/.test(head)) {
    throw new UsageError(
      'a curl command is not read: give an HTTP message, as callback sign --output http prints it, or --headers-file and --body-file',
    );
  }
  return parseHttpMessage(source);
}

/** Reads a file of headers: header lines, or JSON. */
export function parseHeaders(source: Buffer): readonly HeaderPair[] {
  return /^[{[]/.test(textHead(source)) ? parseJsonHeaders(source) : parseHeaderFile(source);
}

function textHead(source: Buffer): string {
  return source
    .toString('utf8', 0, HEAD_BYTES)
    .replace(/^\ufeff/, '')
    .trimStart();
}
