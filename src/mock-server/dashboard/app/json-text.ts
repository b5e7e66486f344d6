/** A piece of JSON with its colour. */
export interface JsonToken {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'mark';
  readonly text: string;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Longer texts are shown as they are: laying them out would block the page. */
const MAX_LENGTH = 32_768;
const MAX_INDENT = 40;

/**
 * Lays out JSON with line breaks and indents; returns `undefined` for a text that is not JSON or too long.
 * Numbers and strings stay as written: parsing and serialising `1.10` or a long number would change it.
 */
export function layOutJson(text: string): readonly JsonToken[] | undefined {
  if (text.length > MAX_LENGTH || !isJson(text)) return undefined;
  const pieces = text.match(TOKEN) ?? [];
  let depth = 0;
  return pieces.map((piece, index) => {
    const after = pieces[index + 1];
    if (isOpening(piece)) depth += 1;
    if (isClosing(after)) depth -= 1;
    const token = piece === ':' ? ': ' : piece;
    return { kind: kindOf(piece, after), text: `${token}${breakAfter(piece, after, depth)}` };
  });
}

function breakAfter(piece: string, after: string | undefined, depth: number): string {
  if (after === undefined || (isOpening(piece) && isClosing(after))) return '';
  const isEnd = piece === ',' || isOpening(piece) || isClosing(after);
  return isEnd ? `\n${'  '.repeat(Math.min(depth, MAX_INDENT))}` : '';
}

const isClosing = (piece: string | undefined): boolean => piece === '}' || piece === ']';
const isOpening = (piece: string | undefined): boolean => piece === '{' || piece === '[';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function kindOf(piece: string, after: string | undefined): JsonToken['kind'] {
  if (piece.startsWith('"')) return after === ':' ? 'key' : 'string';
  if (/^[-\d]/.test(piece)) return 'number';
  return piece.length === 1 ? 'mark' : 'word';
}
