export const REDACTED = '[redacted]';

/** Shown instead of a text that repeats a part of what was sent. */
export const WITHHELD = '[withheld: repeats the request]';

// A part of this length may hold a customer's data.
const MIN_SHARED = 24;

/** For texts about a callback: most name its payment, by a UUID of 36 characters. */
export const MIN_SHARED_WITH_CALLBACK = 40;

// Longer texts are cut instead of searched: a server must not keep the process busy.
const MAX_SEARCHED = 4_096;

/** Makes texts from outside safe to show. Shows nothing when printed. */
export class Redactor {
  readonly #secrets: readonly (string | Uint8Array)[];
  #spellings: readonly string[] | undefined;

  constructor(secrets: readonly (string | Uint8Array)[]) {
    this.#secrets = secrets;
  }

  /**
   * Removes the secrets as they are, in hex, in base64 and URL-encoded. A text that shares `minShared` characters with
   * what was sent is withheld.
   */
  redactAll(texts: readonly string[], sent = '', minShared = MIN_SHARED): string[] {
    return texts.map((text) => {
      const shown = this.#redact(text).slice(0, MAX_SEARCHED);
      return repeats(shown, sent, minShared) ? WITHHELD : shown;
    });
  }

  #redact(text: string): string {
    // The longest first: one secret may contain another.
    this.#spellings ??= this.#secrets.flatMap(spellings).sort((a, b) => b.length - a.length);
    return this.#spellings.reduce((left, secret) => left.replaceAll(secret, REDACTED), text);
  }
}

/** Whether a text shares a part of this length with what was sent. */
function repeats(text: string, sent: string, length: number): boolean {
  const parts = new Set<string>();
  for (let end = length; end <= text.length; end += 1) parts.add(text.slice(end - length, end));
  if (parts.size === 0) return false;
  for (let at = 0; at + length <= sent.length; at += 1) {
    if (parts.has(sent.slice(at, at + length)) && !isInName(sent, at, length)) return true;
  }
  return false;
}

/** Whether a part of JSON lies in a field's name, such as `merchantPaymentReference`: it is not data. */
function isInName(json: string, from: number, length: number): boolean {
  const [name = ''] = /^"?[\w-]+":/.exec(json.slice(from, from + 3 * length)) ?? [];
  return name.length >= length;
}

/** As it is, in URLs, and as its bytes are written; the padding of base64 is sometimes left off. */
function spellings(secret: string | Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  const text = bytes.toString();
  const base64 = bytes.toString('base64');
  const encoded = [encodeURIComponent(text), bytes.toString('hex'), bytes.toString('base64url')];
  return [text, base64, base64.replaceAll('=', ''), ...encoded];
}
