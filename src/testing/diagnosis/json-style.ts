import { statusRecordFields } from '../../protocol/payment.js';
import type { JsonMember, JsonNode } from './json-text.js';

/** White space between the parts of JSON. */
export interface JsonLayout {
  /** For messages: `indented by 2 spaces`. */
  readonly name: string;
  /** One step of indentation; without one everything is on one line. */
  readonly indent?: string;
  readonly comma: string;
  readonly colon: string;
}

export const jsonLayouts: readonly JsonLayout[] = [
  { name: 'without white space (JSON.stringify)', comma: ',', colon: ':' },
  { name: 'with a space after commas and colons (Python)', comma: ', ', colon: ': ' },
  { name: 'pretty-printed with 2 spaces', indent: '  ', comma: ',', colon: ': ' },
  { name: 'pretty-printed with 4 spaces', indent: '    ', comma: ',', colon: ': ' },
  { name: 'pretty-printed with tabs', indent: '\t', comma: ',', colon: ': ' },
];

/** Order of an object's keys. */
export type KeyOrder = 'as-captured' | 'interface' | 'sorted';

/** Which characters are written as escapes, beyond those that JSON demands. */
export interface JsonEscapes {
  /** `\/` as PHP writes it. */
  readonly slashes: boolean;
  /** `\u00e9` and `\u00E9`. */
  readonly unicode: 'plain' | 'lower' | 'upper';
  readonly html: HtmlEscapes;
}

/** Whose habit of escaping what could be HTML: Go and Rails, Gson, .NET. */
export type HtmlEscapes = 'none' | 'go' | 'gson' | 'dotnet';

const HTML_CHARACTERS: Readonly<Record<HtmlEscapes, string>> = {
  none: '',
  go: '<>&\u2028\u2029',
  gson: "<>&='\u2028\u2029",
  dotnet: '<>&\'"+`\u2028\u2029',
};

export interface JsonStyle {
  readonly layout: JsonLayout;
  /** Nothing keeps every string as it was written. */
  readonly escapes: JsonEscapes | undefined;
  readonly lineBreak: string;
}

/** Whether the habit makes a difference for these strings. */
export function touchesHtml(html: HtmlEscapes, strings: string): boolean {
  return [...HTML_CHARACTERS[html]].some((character) => strings.includes(character));
}

/** Tells the habits by which strings were written; they are guessed from what is escaped. */
export function detectEscapes(rawStrings: string): JsonEscapes {
  // What follows an escaped backslash is no escape.
  const escapes = rawStrings.replaceAll('\\\\', '');
  return {
    slashes: escapes.includes('\\/'),
    unicode: detectUnicodeEscapes(escapes),
    html: detectHtmlEscapes(escapes),
  };
}

function detectUnicodeEscapes(rawStrings: string): JsonEscapes['unicode'] {
  const escaped = rawStrings.match(/\\u(?!00[0-7]|202[89])[\da-f]{4}/gi)?.join('') ?? '';
  if (escaped === '') return 'plain';
  return /[A-F]/.test(escaped) ? 'upper' : 'lower';
}

function detectHtmlEscapes(rawStrings: string): HtmlEscapes {
  if (/\\u00(?:2B|22|3[CE]|60)/.test(rawStrings)) return 'dotnet';
  if (/\\u00(?:3d|27)/.test(rawStrings)) return 'gson';
  return /\\u(?:00(?:3[ce]|26)|202[89])/.test(rawStrings) ? 'go' : 'none';
}

export function writeJson(root: JsonNode, { layout, escapes, lineBreak }: JsonStyle): string {
  const spelled = new Map<string, string>();

  function writeString({ raw, text }: { raw: string; text: string }): string {
    if (escapes === undefined) return raw;
    let written = '';
    for (const character of text) {
      let spelling = spelled.get(character);
      if (spelling === undefined) {
        spelling = spellCharacter(character, escapes);
        spelled.set(character, spelling);
      }
      written += spelling;
    }
    return `"${written}"`;
  }

  function writeParts(
    open: string,
    parts: readonly string[],
    close: string,
    margin: string,
  ): string {
    if (parts.length === 0) return open + close;
    if (layout.indent === undefined) return open + parts.join(layout.comma) + close;
    const inner = lineBreak + margin + layout.indent;
    return open + inner + parts.join(layout.comma + inner) + lineBreak + margin + close;
  }

  function writeNode(node: JsonNode, margin: string): string {
    if (node.kind === 'literal') return node.raw;
    if (node.kind === 'string') return writeString(node);
    const below = margin + (layout.indent ?? '');
    if (node.kind === 'array') {
      const items = node.items.map((item) => writeNode(item, below));
      return writeParts('[', items, ']', margin);
    }
    const members = node.members.map(
      ({ key, value }) => writeString(key) + layout.colon + writeNode(value, below),
    );
    return writeParts('{', members, '}', margin);
  }

  return writeNode(root, '');
}

function spellCharacter(character: string, { slashes, unicode, html }: JsonEscapes): string {
  if (HTML_CHARACTERS[html].includes(character)) return escapeUnits(character, html === 'dotnet');
  if (character === '/' && slashes) return '\\/';
  if (unicode !== 'plain' && character > '\x7f') return escapeUnits(character, unicode === 'upper');
  // Writes what JSON demands, lone surrogates included.
  return JSON.stringify(character).slice(1, -1);
}

function escapeUnits(character: string, upperCase: boolean): string {
  let escaped = '';
  for (let index = 0; index < character.length; index += 1) {
    const digits = character.charCodeAt(index).toString(16).padStart(4, '0');
    escaped += `\\u${upperCase ? digits.toUpperCase() : digits}`;
  }
  return escaped;
}

/** The same document with its keys in another order; sorted goes down into nested objects. */
export function reorderKeys(node: JsonNode, order: KeyOrder): JsonNode {
  if (order === 'as-captured') return node;
  if (order === 'interface') {
    return node.kind === 'object'
      ? { kind: 'object', members: [...node.members].sort(byInterfaceOrder) }
      : node;
  }
  if (node.kind === 'array') {
    return { kind: 'array', items: node.items.map((item) => reorderKeys(item, order)) };
  }
  if (node.kind !== 'object') return node;
  const members = node.members.map(({ key, value }) => ({ key, value: reorderKeys(value, order) }));
  return { kind: 'object', members: members.sort(byKey) };
}

function byInterfaceOrder(left: JsonMember, right: JsonMember): number {
  return interfaceRank(left) - interfaceRank(right);
}

// Fields that the interface does not name stay behind, in the order they came in.
function interfaceRank({ key }: JsonMember): number {
  const rank = (statusRecordFields as readonly string[]).indexOf(key.text);
  return rank === -1 ? statusRecordFields.length : rank;
}

function byKey(left: JsonMember, right: JsonMember): number {
  if (left.key.text === right.key.text) return 0;
  return left.key.text < right.key.text ? -1 : 1;
}
