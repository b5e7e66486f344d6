import { type Reading, readInEveryWay } from './echo-readings.js';
import { PART_LENGTH, PartIndex } from './part-index.js';

// How long an echo is at least, in characters that are no white space.
const MIN_PLAIN_LENGTH = 40;

// A part of 40 in another spelling may begin and end in the middle of `&quot;`.
const MIN_DECODED_LENGTH = 30;

/**
 * Which characters of a text echo the body, in whole or in part: plain, or in JSON, HTML, a URL, a form,
 * quotes, base64 or hex, whatever white space stands between. A body can be large, and spelling it in
 * each way would keep the process busy, so the few characters of the text are decoded in each instead,
 * and the body is passed over once: the time is in proportion to its length, whatever both hold.
 */
export function markBodyEcho(text: string, body: string): Uint8Array {
  const readings = readInEveryWay(text);
  const parts = new PartIndex(readings.map(({ bytes }) => bytes));
  parts.findIn(Buffer.from(body));
  const marks = new Uint8Array(text.length);
  const visible = countVisible(text);
  for (const [index, reading] of readings.entries()) {
    for (const { from, to } of foundRuns(parts, index, reading.bytes.length)) {
      const { start, end } = boundsOf(reading, from, to, text);
      const length = (visible[end] as number) - (visible[start] as number);
      const isDecoded = length > countCharacters(reading.bytes, from, to);
      if (length >= (isDecoded ? MIN_DECODED_LENGTH : MIN_PLAIN_LENGTH)) marks.fill(1, start, end);
    }
  }
  return marks;
}

/** The bounds of found parts in a row. */
function foundRuns(
  parts: PartIndex,
  index: number,
  length: number,
): readonly { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  let from = -1;
  for (let at = 0; at <= length; at += 1) {
    const isFound = parts.isFound(index, at);
    if (isFound && from === -1) from = at;
    if (isFound || from === -1) continue;
    runs.push({ from, to: at - 1 + PART_LENGTH });
    from = -1;
  }
  return runs;
}

/** Where a run stands in the text, with what the reading left out at its edges. */
function boundsOf(
  { starts, ends }: Reading,
  from: number,
  to: number,
  text: string,
): { start: number; end: number } {
  let start = starts[from] as number;
  let end = ends[to - 1] as number;
  while (/[\\+]/.test(text[start - 1] ?? '')) start -= 1;
  while (/[\\+]/.test(text[end] ?? '')) end += 1;
  return { start, end };
}

/** How many characters that are no white space stand before each place of the text. */
function countVisible(text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1);
  for (let at = 0; at < text.length; at += 1) {
    counts[at + 1] = (counts[at] as number) + (/\s/.test(text[at] as string) ? 0 : 1);
  }
  return counts;
}

/** Characters of UTF-8: each byte but those that continue one. */
function countCharacters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (((bytes[at] as number) & 0xc0) !== 0x80) count += 1;
  return count;
}
