import { inspect } from 'node:util';

/** A piece of this many characters is a leak, in whatever spelling. */
const PIECE_LENGTH = 12;

export interface Leak {
  /** The name of what was planted. */
  readonly secret: string;
  readonly spelling: string;
  /** What was found. */
  readonly piece: string;
}

type Find = (shown: string | Uint8Array) => Leak[];

/** Makes a search for pieces of what was planted, in every spelling. */
export function createSearch(planted: Readonly<Record<string, string | Uint8Array>>): Find {
  const pieces = new Map<string, Leak>();
  for (const [secret, value] of Object.entries(planted)) {
    for (const [spelling, text] of Object.entries(spellingsOf(value))) {
      if (text.length < PIECE_LENGTH) throw new Error(`${secret} is too short as ${spelling}`);
      for (let at = 0; at + PIECE_LENGTH <= text.length; at += 1) {
        const piece = text.slice(at, at + PIECE_LENGTH);
        if (!pieces.has(piece)) pieces.set(piece, { secret, spelling, piece });
      }
    }
  }
  const candidatesIn = createFilter(pieces.keys());
  return (shown) => {
    const found = new Map<string, Leak>();
    for (const text of readingsOf(shown)) {
      for (const at of candidatesIn(text)) {
        const leak = pieces.get(text.slice(at, at + PIECE_LENGTH));
        if (leak !== undefined && !found.has(leak.secret)) found.set(leak.secret, leak);
      }
    }
    return [...found.values()];
  };
}

/** Where a text may have one of the pieces. It misses none. */
type Filter = (text: string) => number[];

// A dashboard has a million characters: a hash that rolls over them leaves one in a hundred to look at.
const BASE = 0x01000193;
const SLOT_BITS = 21;

function createFilter(pieces: Iterable<string>): Filter {
  const isTaken = new Uint8Array(2 ** SLOT_BITS);
  for (const piece of pieces) isTaken[slotOf(hashOf(piece, PIECE_LENGTH))] = 1;
  let outgoing = 1;
  for (let count = 0; count < PIECE_LENGTH; count += 1) outgoing = Math.imul(outgoing, BASE);
  return (text) => {
    const candidates: number[] = [];
    let hash = hashOf(text, PIECE_LENGTH - 1);
    for (let end = PIECE_LENGTH - 1; end < text.length; end += 1) {
      const at = end - PIECE_LENGTH + 1;
      hash = (Math.imul(hash, BASE) + text.charCodeAt(end)) | 0;
      if (at > 0) hash = (hash - Math.imul(text.charCodeAt(at - 1), outgoing)) | 0;
      if (isTaken[slotOf(hash)] === 1) candidates.push(at);
    }
    return candidates;
  };
}

function hashOf(text: string, length: number): number {
  let hash = 0;
  for (let at = 0; at < Math.min(length, text.length); at += 1) {
    hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0;
  }
  return hash;
}

const slotOf = (hash: number): number => hash >>> (32 - SLOT_BITS);

/** The ways in which a secret can be written. */
export function spellingsOf(secret: string | Uint8Array): Record<string, string> {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded: Record<string, string> = {
    hex,
    'hex in capitals': hex.toUpperCase(),
    'bytes read as Latin-1': bytes.toString('latin1'),
  };
  for (const form of ['base64', 'base64url'] as const) {
    for (const before of [0, 1, 2]) {
      encoded[`${form} after ${before} bytes`] = alignedBase64(bytes, form, before);
    }
  }
  encoded['base64 in a URL'] = encodeURIComponent(bytes.toString('base64'));
  return typeof secret === 'string' ? { ...encoded, ...textSpellings(secret) } : encoded;
}

// Three bytes are four characters: with other bytes before it, a secret has two more spellings.
function alignedBase64(bytes: Buffer, form: 'base64' | 'base64url', before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString(form)
    .replace(/=+$/, '');
  const isWhole = (before + bytes.length) % 3 === 0;
  // The characters at the edges hold bits of what stands beside it, too.
  return text.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
}

function textSpellings(text: string): Record<string, string> {
  const url = encodeURIComponent(text);
  const json = JSON.stringify(text).slice(1, -1);
  return {
    text,
    'JSON-escaped': json,
    'JSON in JSON': JSON.stringify(json).slice(1, -1),
    'as inspect quotes it': inspect(text).slice(1, -1),
    'URL-encoded': url,
    'URL-encoded in small letters': url.replaceAll(/%../g, (code) => code.toLowerCase()),
    'form-encoded': new URLSearchParams({ '': text }).toString().slice(1),
    'HTML-escaped': text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;'),
    'HTML-escaped with numbers': text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&#34;')
      .replaceAll("'", '&#39;'),
    'JSON of PHP': json
      .replaceAll('/', '\\/')
      .replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`),
  };
}

const DECIMALS = /\d{1,3}(?:,\s*\d{1,3}){11,}/g;
const SPACED_HEX = /[0-9a-f]{2}(?: [0-9a-f]{2}){5,}/gi;

/** The texts that something can be read as. */
function readingsOf(shown: string | Uint8Array): string[] {
  const texts =
    typeof shown === 'string'
      ? [shown]
      : [Buffer.from(shown).toString('latin1'), Buffer.from(shown).toString('utf8')];
  return texts.flatMap((text) => [
    text,
    // UTF-16, of either order, read byte by byte.
    ...(text.includes('\0') ? [text.replaceAll('\0', '')] : []),
    // An array of bytes, as inspect and JSON write it.
    ...Array.from(text.matchAll(DECIMALS), ([list]) =>
      Buffer.from(list.split(',').map(Number)).toString('latin1'),
    ),
    // A Buffer, as inspect writes it.
    ...Array.from(text.matchAll(SPACED_HEX), ([list]) => list.replaceAll(' ', '')),
  ]);
}
