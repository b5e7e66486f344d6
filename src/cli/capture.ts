import { createReadStream } from 'node:fs';
import {
  type CapturedCallback,
  type HeaderPair,
  parseHeaderFile,
  parseHttpMessage,
  parseJsonCapture,
  parseJsonHeaders,
} from './capture-formats.js';
import { type Call, text, UsageError } from './command.js';
import { printNote, type Terminal } from './output.js';

/** The options that name a capture. */
export const captureOptions = {
  'headers-file': text({
    value: 'file',
    help: 'The headers: a line each, or JSON. With --body-file.',
  }),
  'body-file': text({
    value: 'file',
    help: 'The body, byte for byte. Instead of that of another capture.',
  }),
  'http-file': text({ value: 'file', help: 'An HTTP message: headers, an empty line, the body.' }),
  'json-file': text({
    value: 'file',
    help: 'JSON with headers and rawBody or rawBodyBase64, or an AWS Lambda event.',
  }),
};

const parsers = {
  'headers-file': (source: Buffer): CapturedCallback => ({
    headers: parseHeaders(source),
    body: { kind: 'none', remedy: '--headers-file gives no body: give --body-file too' },
    notes: [],
  }),
  'http-file': parseHttpMessage,
  'json-file': parseJsonCapture,
};
type Source = keyof typeof parsers;

type CaptureCall = Call<typeof captureOptions>;

/**
 * The captured callback that the options name; without any, that of standard input.
 *
 * @throws {UsageError} when it can't be read, or the options contradict each other
 */
export async function readCapture(call: CaptureCall): Promise<CapturedCallback> {
  const { options, terminal } = call;
  const named = (Object.keys(parsers) as Source[]).filter((name) => options[name] !== undefined);
  assertOneSource(call, named);
  const [source] = named;
  const captured = await readSource(source, call);
  const path = options['body-file'];
  if (path === undefined) return captured;
  const bytes = await readInput({ option: '--body-file', path, what: 'the body' }, terminal);
  // The notes were about the other body.
  return { headers: captured.headers, body: { kind: 'bytes', bytes }, notes: [] };
}

function assertOneSource({ options, words }: CaptureCall, named: readonly Source[]): void {
  const [word] = words;
  if (words.length > 1 || (word !== undefined && word !== '-')) {
    throw new UsageError(
      'beside the options only - is expected, for standard input; give a file by --http-file or --json-file',
    );
  }
  const captures = [...named.map((name) => `--${name}`), ...words];
  if (captures.length > 1) {
    throw new UsageError(`${captures.join(' and ')} each give a capture: give one of them`);
  }
  const paths = [word, options['body-file'], ...named.map((name) => options[name])];
  const isStdinImplied = captures.length === 0;
  if (paths.filter((path) => path === '-').length + Number(isStdinImplied) > 1) {
    throw new UsageError(
      'standard input can be read once: name a file for the headers, or for the body',
    );
  }
}

async function readSource(
  source: Source | undefined,
  { options, terminal }: CaptureCall,
): Promise<CapturedCallback> {
  const what = source === 'headers-file' ? 'the headers' : 'the callback';
  const path = (source && options[source]) ?? '-';
  const bytes = await readInput({ option: `--${source ?? 'http-file'}`, path, what }, terminal);
  if (path === '-' && !/\S/.test(bytes.toString('latin1'))) {
    throw new UsageError(
      `standard input is empty, but ${what} should be there: pipe in what was captured, or name a file; see --help`,
    );
  }
  return source === undefined ? parseCapture(bytes) : parsers[source](bytes);
}

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

/** Bytes that show what a capture is. */
const HEAD_BYTES = 1_024;

function textHead(source: Buffer): string {
  return source
    .toString('utf8', 0, HEAD_BYTES)
    .replace(/^\ufeff/, '')
    .trimStart();
}

/** More than any callback has; a wrong file must not fill the memory. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

interface InputPlace {
  /** The option that named it, for messages. */
  readonly option: string;
  /** A file, or `-` for standard input. */
  readonly path: string;
  /** What is read, for messages: `the body`. */
  readonly what: string;
}

/**
 * The bytes of a file or of standard input, exactly.
 *
 * @throws {UsageError} when it can't be read, or has more than 16 MiB
 */
export async function readInput(
  { option, path, what }: InputPlace,
  terminal: Terminal,
): Promise<Buffer> {
  const isStdin = path === '-';
  if (isStdin && terminal.stdin.isTTY) {
    printNote(terminal, `reading ${what} from standard input; Ctrl-D on an empty line ends it`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of isStdin ? terminal.stdin : createReadStream(path)) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > MAX_INPUT_BYTES) break;
      chunks.push(bytes);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UsageError(
      `${option}: reading ${isStdin ? 'standard input' : path} failed with ${code}`,
    );
  }
  if (size <= MAX_INPUT_BYTES) return Buffer.concat(chunks);
  throw new UsageError(`${option}: ${what} may have at most ${MAX_INPUT_BYTES} bytes`);
}
