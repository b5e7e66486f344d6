import type { SignedCallback } from 'merchant-payments/testing';
import { UsageError } from '../command.js';
import { plainText } from '../plain-text.js';

/** A signed callback and where it goes. */
export interface CallbackRequest extends SignedCallback {
  readonly url: URL;
}

/** Longer ones do not fit one argument of a command on Linux. */
const MAX_PASTED_BYTES = 100_000;

/**
 * A curl command that sends the callback, for any shell that is like sh.
 *
 * @throws {UsageError} for a body that no command line carries
 */
export function toCurlCommand({ url, headers, rawBody }: CallbackRequest): string {
  const body = readText(rawBody);
  if (body === undefined || body.includes('\0')) {
    throw new UsageError(
      'this body has bytes that a command line does not carry: take --output json, which has it in base64 too, or --output http',
    );
  }
  if (rawBody.byteLength > MAX_PASTED_BYTES) {
    throw new UsageError(
      `a body of ${rawBody.byteLength} bytes is too long for a command line: take --output json or --output http`,
    );
  }
  // In a URL curl itself gives brackets and braces a meaning.
  const globbing = /[[\]{}]/.test(url.href) ? ' --globoff' : '';
  const lines = [
    `curl${globbing} ${quote(url.href)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`),
    // Not --data-binary: it would read a file for a body that begins with @.
    `  --data-raw ${quote(body)}`,
  ];
  return `${lines.join(' \\\n')}\n`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The callback as an HTTP/1.1 message, the body as it is. */
export function toHttpMessage({ url, headers, rawBody }: CallbackRequest): Buffer {
  const head = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${rawBody.byteLength}`,
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n')), rawBody]);
}

/** The callback for JSON: the body as text, where it is text, and as base64. */
export function toJsonCapture({ url, headers, rawBody }: CallbackRequest): object {
  const text = readText(rawBody);
  return {
    method: 'POST',
    url: url.href,
    headers,
    ...(text !== undefined && { rawBody: text }),
    rawBodyBase64: Buffer.from(rawBody).toString('base64'),
  };
}

/** The text of a body; `undefined` when it is not UTF-8. */
export function readText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Whether a body can be shown on a terminal as it is, without driving it. */
export function isShowable(body: Uint8Array): boolean {
  const text = readText(body)?.replace(/[\t\r\n]/g, '');
  return text !== undefined && plainText(text) === text;
}
