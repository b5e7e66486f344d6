import { hash } from 'node:crypto';
import { isPlainName } from './plain-name.js';

/**
 * A reference or key as a store keeps it. What no store has trouble with stays readable; anything
 * else (blanks, braces, which Redis reads as a hash tag, NUL, which Postgres refuses, great length)
 * is stored by its digest.
 */
export function toStoredName(text: string): string {
  if (isPlainName(text)) return text;
  // Not its UTF-8, in which every lone surrogate is the same.
  return `sha256:${hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')}`;
}
