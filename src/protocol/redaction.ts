export const REDACTED = '[redacted]';

/** Shown instead of a text that repeats a part of what was sent. */
export const WITHHELD = '[withheld: repeats the request]';

// A shorter part of a secret is useless to an attacker, and may be an ordinary word.
const MIN_SECRET_PART = 12;

// As much may hold a customer's data.
const MIN_SHARED = 24;

/** For texts about a callback: most name its payment, by a UUID of 36 characters. */
export const MIN_SHARED_WITH_CALLBACK = 40;

// Longer texts are cut instead of searched: a server must not keep the process busy.
const MAX_SEARCHED = 4_096;

/** Makes texts from outside safe to show. Shows nothing when printed. */
export class Redactor {
  readonly #secrets: readonly string[];
  #parts: ReadonlySet<string> | undefined;
  #lengths: readonly number[] = [];

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /**
   * Removes the secrets as they are, in JSON, in base64 and URL-encoded, in whole and in parts of 12 characters, since a server
   * may cut what it repeats. A text that shares `minShared` characters with what was sent is withheld.
   */
  redactAll(texts: readonly string[], sent = '', minShared = MIN_SHARED): string[] {
    const searched = texts.map((text) => text.slice(0, MAX_SEARCHED));
    const shared = findShared(searched, sent, minShared);
    return searched.map((text, index) => {
      if (partsOf(text, minShared).some((part) => shared.has(part))) return WITHHELD;
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

/** The parts of this length that texts share with what was sent. */
function findShared(texts: readonly string[], sent: string, length: number): Set<string> {
  const shared = new Set<string>();
  const parts = new Set(texts.flatMap((text) => partsOf(text, length)));
  if (parts.size === 0) return shared;
  for (let at = 0; at + length <= sent.length; at += 1) {
    const part = sent.slice(at, at + length);
    if (parts.has(part) && !isInName(sent, at, length)) shared.add(part);
  }
  return shared;
}

/** Whether a part of JSON lies in a field's name, such as `merchantPaymentReference`: it is not data. */
function isInName(json: string, from: number, length: number): boolean {
  const [name = ''] = /^"?[\w-]+":/.exec(json.slice(from, from + 3 * length)) ?? [];
  return name.length >= length;
}

/** How programs write a secret: as it is, in JSON, in URLs, and in base64, whose padding is sometimes left off. */
function spellings(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64');
  const base64url = Buffer.from(secret).toString('base64url');
  const plain = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  return [...plain, base64, base64.replaceAll('=', ''), base64url];
}
