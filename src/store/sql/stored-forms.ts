import { hash } from 'node:crypto';
import { isPlainName } from '../change.js';
import type { StoredForms } from '../payment-row.js';

/**
 * The stored form of a reference or key. Names that every store can handle stay readable; all others (with spaces,
 * with braces, which Redis reads as a hash tag, with NUL, which Postgres refuses, or too long)
 * become a digest.
 */
function toStoredName(text: string): string {
  if (isPlainName(text)) return text;
  // Not UTF-8, in which all lone surrogates have the same encoding.
  return `sha256:${hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')}`;
}

/** The key of a reference that is stored as JSON. */
export function keyOf(reference: string): string {
  return toStoredName(JSON.parse(reference));
}

/** The forms in which a database keeps texts: names of at most 128 printable ASCII characters, and short digests. */
export const databaseForms: StoredForms = {
  toName: toStoredName,
  toDigest: (body) => hash('sha256', body, 'base64url'),
};
