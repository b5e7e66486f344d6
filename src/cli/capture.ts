import { createReadStream } from 'node:fs';
import { type CapturedCallback, parseHttpMessage, parseJsonCapture } from './capture-formats.js';
import { type Call, text, UsageError } from './command.js';
import { pathOf, printNote, type Terminal } from './output.js';

/** The options that name a capture. */
export const captureOptions = {
  'http-file': text({ value: 'file', help: 'An HTTP message: headers, an empty line, the body.' }),
  'json-file': text({
    value: 'file',
    help: 'JSON with headers, and rawBody or rawBodyBase64.',
  }),
};

const parsers = { 'http-file': parseHttpMessage, 'json-file': parseJsonCapture };

type CaptureCall = Call<typeof captureOptions>;

/**
 * Reads the captured callback that the options name, or without options the one on standard input.
 *
 * @throws {UsageError} when it can't be read, or the options conflict
 */
export async function readCapture(call: CaptureCall): Promise<CapturedCallback> {
  const { options, words, terminal } = call;
  const [word] = words;
  if (words.length > 1 || (word !== undefined && word !== '-')) {
    throw new UsageError(
      'the only argument is -, for standard input; give a file with --http-file or --json-file',
    );
  }
  const named = (['http-file', 'json-file'] as const).filter((name) => options[name] !== undefined);
  const captures = [...named.map((name) => `--${name}`), ...words];
  if (captures.length > 1) {
    throw new UsageError(`${captures.join(' and ')} each name a capture: give one of them`);
  }
  const [source] = named;
  const path = (source && options[source]) ?? '-';
  const option = `--${source ?? 'http-file'}`;
  const bytes = await readInput({ option, path, what: 'the callback' }, terminal);
  if (path === '-' && !/\S/.test(bytes.toString('latin1'))) {
    throw new UsageError(
      'standard input is empty: pipe in the callback as captured, or give a file; see --help',
    );
  }
  return source === undefined ? parseCapture(bytes) : parsers[source](bytes);
}

/** Enough bytes to recognize the format of a capture. */
const HEAD_BYTES = 1_024;

/**
 * Parses a capture in a format that no option names: JSON, or otherwise an HTTP message.
 *
 * @throws {UsageError} when it is neither
 */
export function parseCapture(source: Buffer): CapturedCallback {
  const head = source
    .toString('utf8', 0, HEAD_BYTES)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (head.startsWith('{')) return parseJsonCapture(source);
  // The dashboard and callback sign offer curl commands, so users paste them here.
  if (/^(?:\$ +)?curl\s/.test(head)) {
    throw new UsageError(
      "a curl command can't be read: give an HTTP message, as callback sign --output http prints it, or JSON, as callback sign --json prints it",
    );
  }
  return parseHttpMessage(source);
}

/** Larger than any callback; a wrong file must not fill the memory. */
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
 * Reads the exact bytes of a file or of standard input.
 *
 * @throws {UsageError} when it can't be read, or has more than 16 MiB
 */
export async function readInput(
  { option, path, what }: InputPlace,
  terminal: Terminal,
): Promise<Buffer> {
  const isStdin = path === '-';
  if (isStdin && terminal.stdin.isTTY) {
    printNote(
      terminal,
      `reading ${what} from standard input; press Ctrl-D on an empty line to end it`,
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of isStdin ? terminal.stdin : createReadStream(pathOf(terminal, path))) {
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
