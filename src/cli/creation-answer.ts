import { Redactor } from '../protocol/redaction.js';
import type { Terminal } from './output.js';

/** A shorter key may be a word of an honest text. */
const MIN_KEY_LENGTH = 12;

/**
 * A JSON value without the credentials, in whole and in part: another server than the service may
 * answer with the request it got. A short key stays: it is a user name, and often the beginning of
 * a shop's references.
 */
export function withoutCredentials(value: object, env: Terminal['env']): object {
  const apiKey = env['MERCHANT_PAYMENTS_API_KEY'] ?? '';
  const apiSecret = env['MERCHANT_PAYMENTS_API_SECRET'] ?? '';
  const pair = `${apiKey}:${apiSecret}`;
  const signingSecret = env['MERCHANT_PAYMENTS_SIGNING_SECRET'] ?? '';
  const secrets = [pair, Buffer.from(pair).toString('base64'), apiSecret, signingSecret];
  if (apiKey.length >= MIN_KEY_LENGTH) secrets.push(apiKey);
  const redactor = new Redactor(secrets.filter((secret) => secret !== ''));
  return mapTexts(value, (text) => redactor.redactAll([text])[0] ?? '') as object;
}

/** A JSON value with all its texts replaced, names of fields included. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [map(name), mapTexts(field, map)]),
  );
}
