import { createReadStream } from 'node:fs';
import { type Terminal, UsageError } from '../command.js';
import { printNote } from '../output.js';

/** More than any callback has; a wrong file must not fill the memory. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

interface InputPlace {
  /** The option that named it, for messages. */
  readonly option: string;
  /** A file, or `-` for standard input. */
  readonly path: string;
  /** What is read, for the one who has to type it: `the body`. */
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
    printNote(terminal, `reading ${what} from standard input; Ctrl-D on a line of its own ends it`);
  }
  const stream = isStdin ? terminal.stdin : createReadStream(path);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
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
  if (size > MAX_INPUT_BYTES) {
    throw new UsageError(
      `${option}: ${what} may have at most ${MAX_INPUT_BYTES} bytes, but more came`,
    );
  }
  return Buffer.concat(chunks);
}
