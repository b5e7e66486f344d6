/** JSON text taken apart: numbers and strings keep the spelling that they came in. */
export type JsonNode = JsonLiteral | JsonString | JsonArray | JsonObject;

interface JsonLiteral {
  readonly kind: 'literal';
  readonly raw: string;
}

interface JsonString {
  readonly kind: 'string';
  /** As it was written, quotes and escapes included. */
  readonly raw: string;
  readonly text: string;
}

interface JsonArray {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}

interface JsonObject {
  readonly kind: 'object';
  readonly members: readonly JsonMember[];
}

/** A list and no record: keys like `__proto__` and keys given twice are members like all others. */
export interface JsonMember {
  readonly key: JsonString;
  readonly value: JsonNode;
}

// A status record has one level. What is nested deeper than this is not taken apart, so that a
// hostile body can't exhaust the stack.
const MAX_DEPTH = 100;

/** Nothing for text that is not JSON or is nested too deep. */
export function readJson(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return new ValidJsonReader(text).readValue(0);
}

/** Reads text that JSON.parse has accepted, so nothing is checked twice. */
class ValidJsonReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(depth: number): JsonNode | undefined {
    if (depth > MAX_DEPTH) return undefined;
    this.#skipSpace();
    const first = this.#text[this.#position];
    if (first === '{') return this.#readObject(depth);
    if (first === '[') return this.#readArray(depth);
    return first === '"' ? this.#readString() : this.#readLiteral();
  }

  #readObject(depth: number): JsonNode | undefined {
    const members: JsonMember[] = [];
    while (this.#startsNext('}')) {
      const key = this.#readString();
      this.#skipSpace();
      this.#position += 1;
      const value = this.readValue(depth + 1);
      if (value === undefined) return undefined;
      members.push({ key, value });
    }
    return { kind: 'object', members };
  }

  #readArray(depth: number): JsonNode | undefined {
    const items: JsonNode[] = [];
    while (this.#startsNext(']')) {
      const item = this.readValue(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return { kind: 'array', items };
  }

  /** Steps over `{`, `[` or `,` to what follows; false when that is the end. */
  #startsNext(end: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#position] !== end) {
      this.#position += 1;
      this.#skipSpace();
      if (this.#text[this.#position] !== end) return true;
    }
    this.#position += 1;
    return false;
  }

  #readString(): JsonString {
    const start = this.#position;
    let end = start + 1;
    while (this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    this.#position = end + 1;
    const raw = this.#text.slice(start, this.#position);
    return { kind: 'string', raw, text: JSON.parse(raw) };
  }

  #readLiteral(): JsonLiteral {
    const start = this.#position;
    while (/[-+.\w]/.test(this.#text[this.#position] ?? '')) this.#position += 1;
    return { kind: 'literal', raw: this.#text.slice(start, this.#position) };
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#position] ?? '')) this.#position += 1;
  }
}

/** Every string of a document, keys included. */
export function stringsOf(node: JsonNode): readonly JsonString[] {
  if (node.kind === 'string') return [node];
  if (node.kind === 'array') return node.items.flatMap(stringsOf);
  if (node.kind === 'object')
    return node.members.flatMap(({ key, value }) => [key, ...stringsOf(value)]);
  return [];
}
