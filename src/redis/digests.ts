import { isPlainName } from '../store/plain-name.js';

/** `toStoredName` on WebCrypto: a store over HTTP also runs where there is no `node:crypto`. */
export async function toRedisName(text: string): Promise<string> {
  if (isPlainName(text)) return text;
  const units = new DataView(new ArrayBuffer(text.length * 2));
  for (let index = 0; index < text.length; index += 1) {
    units.setUint16(index * 2, text.charCodeAt(index), true);
  }
  const digest = await crypto.subtle.digest('SHA-256', units);
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return `sha256:${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** The digest under which Redis caches a script, in hex. */
export async function sha1Of(source: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(source));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
