export const REDACTED = '[redacted]';

/** Shown instead of a text that repeats a part of what was sent. */
export const WITHHELD = '[withheld: repeats the request]';

// A shorter part of a secret is useless to an attacker, and may be an ordinary word.
const MIN_SECRET_PART = 12;

// As much may hold a customer's data.
const MIN_SHARED = 24;

/** For texts about a callback: most name its payment, by a UUID of 36 characters. */
export const MIN_SHARED_WITH_CALLBACK = 40;

// Longer texts are cut instead of searched, and so are many: a server must not keep the process busy.
const MAX_SEARCHED = 4_096;
const MAX_SEARCHED_IN_ALL = 4 * MAX_SEARCHED;

/** Makes texts from outside safe to show. Shows nothing when printed. */
export class Redactor {
  readonly #secrets: readonly string[];
  #parts: ReadonlySet<string> | undefined;
  #lengths: readonly number[] = [];

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /**
   * Removes the secrets in every spelling, in whole and in parts of 12 characters, since a server may cut what
   * it repeats. A text that shares `minShared` characters with what was sent is withheld.
   */
  redactAll(texts: readonly string[], sent = '', minShared = MIN_SHARED): string[] {
    const searched = texts.map((text) => text.slice(0, MAX_SEARCHED));
    const repeats = sent === '' ? [] : findRepeats(searched, sent, minShared);
    return searched.map((text, index) => {
      if (repeats[index]) return WITHHELD;
      const shown = this.#redact(text);
      // The end may be the beginning of what was cut off.
      return (texts[index] as string).length > MAX_SEARCHED ? shown.slice(0, -minShared) : shown;
    });
  }

  #redact(text: string): string {
    this.#parts ??= this.#listParts();
    let shown = '';
    let end = 0;
    for (let at = 0; at < text.length; at += 1) {
      for (const length of this.#lengths) {
        if (this.#parts.has(text.slice(at, at + length))) end = Math.max(end, at + length);
      }
      if (at >= end) shown += text[at];
      else if (!shown.endsWith(REDACTED)) shown += REDACTED;
    }
    return shown;
  }

  /** The parts that are removed from a text; of a spelling that is shorter than a part, the whole. */
  #listParts(): Set<string> {
    const parts = this.#secrets
      .flatMap(spellings)
      .flatMap((text) => partsOf(text, Math.min(MIN_SECRET_PART, text.length)));
    this.#lengths = [...new Set(parts.map(({ length }) => length))];
    return new Set(parts);
  }
}

function partsOf(text: string, length: number): string[] {
  const parts: string[] = [];
  for (let end = length; end <= text.length; end += 1) parts.push(text.slice(end - length, end));
  return parts;
}

/** Which texts share a part of this length with what was sent, as it is or without white space. */
function findRepeats(texts: readonly string[], sent: string, length: number): boolean[] {
  let left = MAX_SEARCHED_IN_ALL;
  const forms = texts.map((text) => {
    if (text.length < length) return '';
    left -= text.length;
    return left < 0 ? undefined : `${text}\0${withoutSpace(text)}`;
  });
  const searched = forms.flatMap((form) => form || []);
  if (searched.length === 0) return [];
  // Neither separator occurs in JSON, so no part lies across both.
  const shared = sharedParts(searched, `${sent}\u0001${withoutSpace(sent)}`, length);
  return forms.map(
    (form) => form === undefined || partsOf(form, length).some((part) => shared.has(part)),
  );
}

/** In time proportional to the length of the source, which may be megabytes, and of the texts. */
function sharedParts(texts: readonly string[], source: string, length: number): Set<string> {
  const parts = new Set(texts.flatMap((text) => partsOf(text, length)));
  // The first whole block of the source within a part begins in the first half of the part.
  const block = Math.floor(length / 2);
  const blocks = new Set(texts.flatMap((text) => partsOf(text, block)));
  const shared = new Set<string>();
  for (let at = 0; at < source.length; at += block) {
    if (!blocks.has(source.slice(at, at + block))) continue;
    for (let from = at - block + 1; from <= at; from += 1) {
      const part = source.slice(from, from + length);
      if (parts.has(part) && !isInName(source, from, length)) shared.add(part);
    }
  }
  return shared;
}

/** Whether a part of JSON lies in a field's name, such as `merchantPaymentReference`: it is not data. */
function isInName(json: string, from: number, length: number): boolean {
  const [name = ''] = /^"?[\w-]+":/.exec(json.slice(from, from + 3 * length)) ?? [];
  return name.length >= length;
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** How programs write a secret. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  const hex = bytes.toString('hex');
  const url = encodeURIComponent(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const asciiJson = json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${codeOf(unit)}`);
  return [
    secret,
    bytes.toString('latin1'),
    url,
    url.replaceAll(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    // RFC 3986, as PHP and Python encode it.
    escapeBy({ '!': '%21', "'": '%27', '(': '%28', ')': '%29', '*': '%2A' }, url),
    json,
    JSON.stringify(json).slice(1, -1),
    // As Python and PHP write it.
    asciiJson,
    asciiJson.replaceAll('/', '\\/'),
    // JSON that is safe in HTML, as Go, .NET and serializers that escape everything write it.
    ...[/[<>&]/g, /[<>&'"`+]/g, /[^A-Za-z0-9]/g].flatMap((escaped) => [
      secret.replaceAll(escaped, (character) => `\\u${codeOf(character)}`),
      secret.replaceAll(escaped, (character) => `\\u${codeOf(character).toUpperCase()}`),
    ]),
    // As programs print a string, in single or double quotes.
    secret.replaceAll(/['\\]/g, '\\$&'),
    secret.replaceAll('\\', '\\\\'),
    ...ENTITIES.map((entities) => escapeBy(entities, secret)),
    base64,
    encodeURIComponent(base64),
    // Padding is sometimes left off; the rest can still be decoded.
    base64.replaceAll('=', ''),
    bytes.toString('base64url'),
    ...shiftedBase64(bytes),
    hex,
    hex.toUpperCase(),
  ];
}

// What HTML and XML escape differs by program: Express, Go, Python, PHP, XML, Mustache, Handlebars.
const MARKUP = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const ENTITIES: readonly Readonly<Record<string, string>>[] = [
  MARKUP,
  { ...MARKUP, "'": '&#39;' },
  { ...MARKUP, "'": '&#39;', '"': '&#34;' },
  { ...MARKUP, "'": '&#x27;' },
  { ...MARKUP, "'": '&#039;' },
  { ...MARKUP, "'": '&apos;' },
  { ...MARKUP, "'": '&#39;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' },
  { ...MARKUP, "'": '&#x27;', '`': '&#x60;', '=': '&#x3D;' },
];

function escapeBy(escapes: Readonly<Record<string, string>>, text: string): string {
  return Array.from(text, (character) => escapes[character] ?? character).join('');
}

function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}

/** Base64 of a text that contains the secret: three bytes make four characters, so there are three alignments. */
function shiftedBase64(secret: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret]);
    // Without the characters that depend on the bytes before or after.
    const start = Math.ceil((before * 4) / 3);
    const end = Math.floor((bytes.length * 4) / 3);
    return (['base64', 'base64url'] as const)
      .map((encoding) => bytes.toString(encoding).slice(start, end))
      .filter((text) => text.length >= MIN_SECRET_PART);
  });
}
