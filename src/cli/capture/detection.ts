import type { CapturedCallback, HeaderPair } from './captured-callback.js';
import { isCurlCommand, parseCurlCommand } from './curl-command.js';
import { parseHeaderFile, parseHttpMessage } from './http-message.js';
import { parseJsonCapture, parseJsonHeaders } from './json-capture.js';

/** Bytes that tell what a capture is. */
const HEAD_BYTES = 1_024;

/**
 * Reads a capture of a form that is not named: a curl command, JSON, or else an HTTP message.
 *
 * @throws {UsageError} when it can't be read
 */
export function parseCapture(source: Buffer): CapturedCallback {
  const head = textHead(source);
  if (head.startsWith('{')) return parseJsonCapture(source);
  if (isCurlCommand(head) || isPowerShell(head)) return parseCurlCommand(source);
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

const isPowerShell = (head: string): boolean =>
  /^(?:\$session\b|Invoke-(?:WebRequest|RestMethod)\b)/i.test(head);
