import type { ControlAttempt } from '../../../control/control-types.js';

const CONTENT_TYPE = 'content-type';

/** A command for a POSIX shell that sends the same bytes with the same headers once more. */
export function writeCurlCommand({ url, headers, rawBody }: ControlAttempt): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  // Without one, curl sends that of a form; a colon alone makes it send none.
  if (!(CONTENT_TYPE in headers)) lines.push(`-H ${quote(`${CONTENT_TYPE}:`)}`);
  return [
    // Brackets in a URL are patterns to curl otherwise.
    `curl --globoff -i -X POST ${quote(url)}`,
    ...lines,
    `--data-raw ${quote(rawBody)}`,
  ].join(' \\\n  ');
}

// Nothing is special within single quotes but the quote itself.
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
