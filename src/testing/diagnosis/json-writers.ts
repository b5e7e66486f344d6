import { statusRecordFields } from '../../protocol/payment.js';

/** How a program writes JSON. */
interface JsonWriter {
  /** For messages: the program. */
  readonly name: string;
  /** One step of indentation; without one everything is on one line. */
  readonly indent?: string;
  readonly comma?: string;
  readonly colon?: string;
  /** Writes `\/` for a slash. */
  readonly escapesSlashes?: true;
  /** Writes `\u00e9` for what is not ASCII. */
  readonly escapesUnicode?: true;
  readonly keys?: 'sorted' | 'interface';
}

// What writes bodies again in practice. Of two that write the same text the first is named.
const jsonWriters: readonly JsonWriter[] = [
  { name: 'JSON.stringify' },
  { name: 'JSON.stringify(value, null, 2)', indent: '  ', colon: ': ' },
  { name: 'JSON.stringify(value, null, 4)', indent: '    ', colon: ': ' },
  { name: "Python's json.dumps", comma: ', ', colon: ': ', escapesUnicode: true },
  { name: "Python's json.dumps with ensure_ascii=False", comma: ', ', colon: ': ' },
  { name: "PHP's json_encode", escapesSlashes: true, escapesUnicode: true },
  { name: "PHP's json_encode with JSON_UNESCAPED_UNICODE", escapesSlashes: true },
  { name: "PHP's json_encode with JSON_UNESCAPED_SLASHES", escapesUnicode: true },
  { name: 'a program that sorts the keys', keys: 'sorted' },
  { name: "a program that keeps the interface's order of keys", keys: 'interface' },
];

export interface RewrittenJson {
  /** The program that writes the given text; absent when none that is known does. */
  readonly writer: string | undefined;
  /** The same JSON as the others write it, each text with the name of its program. */
  readonly others: ReadonlyMap<string, string>;
}

/** Nothing for text that is not JSON, or is nested too deep. */
export function rewriteJson(text: string): RewrittenJson | undefined {
  const root = readJson(text);
  if (root === undefined) return undefined;
  const others = new Map<string, string>();
  for (const writer of jsonWriters) {
    const written = writeNode(root, { writer, margin: '' });
    if (!others.has(written)) others.set(written, writer.name);
  }
  // An editor and jq write a newline at the end.
  const writer = others.get(text.trim());
  others.delete(text);
  return { writer, others };
}

/** A string, number or literal as it was written, or a list: keys given twice are kept. */
type JsonNode = string | JsonList;

interface JsonList {
  readonly isObject: boolean;
  readonly items: readonly JsonItem[];
}

interface JsonItem {
  readonly key: string;
  readonly value: JsonNode;
}

// A status record has one level. Deeper ones could exhaust the stack, and indented the memory.
const MAX_DEPTH = 16;

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,:[\]{}"]+|[[\]{}]/g;

/** Not by JSON.parse alone: it loses how numbers were written. */
function readJson(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens = text.match(TOKENS) ?? [];
  let at = 0;

  // JSON.parse has accepted the text, so nothing is checked twice.
  function readNode(depth: number): JsonNode | undefined {
    const token = tokens[at++];
    if (token !== '{' && token !== '[') return token;
    if (depth === MAX_DEPTH) return undefined;
    const items: JsonItem[] = [];
    while (tokens[at] !== '}' && tokens[at] !== ']') {
      const key = token === '{' ? (tokens[at++] ?? '') : '';
      const value = readNode(depth + 1);
      if (value === undefined) return undefined;
      items.push({ key, value });
    }
    at += 1;
    return { isObject: token === '{', items };
  }

  return readNode(0);
}

interface WritePlace {
  readonly writer: JsonWriter;
  /** The indentation of the line that the node begins on. */
  readonly margin: string;
}

function writeNode(node: JsonNode, { writer, margin }: WritePlace): string {
  if (typeof node === 'string') return node.startsWith('"') ? writeString(node, writer) : node;
  const { indent = '', comma = ',', colon = ':' } = writer;
  const below = margin + indent;
  const parts = orderItems(node, writer).map(({ key, value }) => {
    const written = writeNode(value, { writer, margin: below });
    return node.isObject ? writeString(key, writer) + colon + written : written;
  });
  const [open, close] = node.isObject ? ['{', '}'] : ['[', ']'];
  if (indent === '' || parts.length === 0) return open + parts.join(comma) + close;
  return `${open}\n${below}${parts.join(`${comma}\n${below}`)}\n${margin}${close}`;
}

function writeString(raw: string, { escapesSlashes, escapesUnicode }: JsonWriter): string {
  const plain = JSON.stringify(JSON.parse(raw));
  const slashes = escapesSlashes ? plain.replaceAll('/', '\\/') : plain;
  return escapesUnicode ? slashes.replace(/[^\0-\x7f]/g, escapeUnit) : slashes;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function orderItems({ isObject, items }: JsonList, { keys }: JsonWriter): readonly JsonItem[] {
  if (!isObject || keys === undefined) return items;
  const compare = keys === 'sorted' ? compareNames : compareRanks;
  return [...items].sort((left, right) => compare(JSON.parse(left.key), JSON.parse(right.key)));
}

function compareNames(left: string, right: string): number {
  return Number(left > right) - Number(left < right);
}

// Fields that the interface does not name stay behind the others, in the order as received.
function compareRanks(left: string, right: string): number {
  const names: readonly string[] = statusRecordFields;
  const rank = (name: string) => (names.includes(name) ? names.indexOf(name) : names.length);
  return rank(left) - rank(right);
}
