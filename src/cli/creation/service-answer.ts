import type { ServiceResponse } from 'merchant-payments';

/** What a service answered to a creation with 2xx, if it can be a payment at all. */
export type CreationAnswer =
  | { readonly kind: 'payment' }
  /** A JSON object that names no payment: the interface does not show what a success looks like. */
  | { readonly kind: 'unnamed'; readonly body: object };

/**
 * Tells whether the answer to a creation is a payment. A 2xx alone says little: a web page of some
 * other server has it too.
 *
 * @throws {Error} when it is no JSON object
 */
export function readCreationAnswer(response: ServiceResponse): CreationAnswer {
  const { status, body } = response;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Error(
      `the service answered ${status}, but not with a payment (${describeBody(response)}): see that MERCHANT_PAYMENTS_BASE_URL is right; the payment may exist: look for it before you try again`,
    );
  }
  return namesPayment(body) ? { kind: 'payment' } : { kind: 'unnamed', body };
}

function namesPayment(body: object): boolean {
  if (!('referenceNumber' in body)) return false;
  const { referenceNumber } = body;
  return typeof referenceNumber === 'string' && referenceNumber.trim() !== '';
}

function describeBody({ body, headers }: ServiceResponse): string {
  if (body === '') return 'no body';
  if (Array.isArray(body)) return 'a JSON array';
  if (typeof body !== 'string') return `JSON of ${body === null ? 'null' : `a ${typeof body}`}`;
  const type = headers['content-type'];
  const [mediaType = ''] = typeof type === 'string' ? type.split(';') : [];
  if (/[/+]json\s*$/i.test(mediaType)) return `${mediaType.trim()} that is no JSON object`;
  return mediaType.trim() || 'without a Content-Type';
}

/** Less of a credential is of no use, and may be a word of an honest text. */
const MIN_CREDENTIAL_PART = 12;

/**
 * A JSON value without the credentials, in whole and in part: another server than the service may
 * answer with the request it got. A short key stays: it is a user name, and often the beginning of
 * a shop's references.
 */
export function withoutCredentials(
  value: object,
  { apiKey, apiSecret }: { readonly apiKey: string; readonly apiSecret: string },
): object {
  const pair = `${apiKey}:${apiSecret}`;
  const secrets = [pair, Buffer.from(pair).toString('base64'), apiSecret];
  if (apiKey.length >= MIN_CREDENTIAL_PART) secrets.push(apiKey);
  const spelled = [...new Set(secrets.flatMap(spellings))];
  return mapTexts(value, (text) => withoutParts(text, spelled)) as object;
}

function withoutParts(text: string, secrets: readonly string[]): string {
  const ends = new Map<number, number>();
  for (const secret of secrets) {
    const length = Math.min(MIN_CREDENTIAL_PART, secret.length);
    for (let at = 0; at + length <= secret.length; at += 1) {
      const part = secret.slice(at, at + length);
      for (let hit = text.indexOf(part); hit !== -1; hit = text.indexOf(part, hit + 1)) {
        ends.set(hit, Math.max(ends.get(hit) ?? 0, hit + length));
      }
    }
  }
  let result = '';
  let end = 0;
  for (const from of [...ends.keys()].sort((a, b) => a - b)) {
    if (from > end || result === '') result += `${text.slice(end, from)}[redacted]`;
    end = Math.max(end, ends.get(from) ?? end);
  }
  return result + text.slice(end);
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  const base64url = bytes.toString('base64url');
  const hex = bytes.toString('hex');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    ...[base64, base64url].flatMap((text) => [text, text.replace(/=+$/, '')]),
    // Three bytes are four characters, so it has two more spellings within something longer.
    ...shiftedBase64(bytes),
    hex,
    hex.toUpperCase(),
  ].filter((text) => text !== '');
}

function shiftedBase64(secret: Buffer): string[] {
  return [1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret]);
    return (['base64', 'base64url'] as const).map((form) =>
      bytes
        .toString(form)
        .replace(/=+$/, '')
        .slice(before + 1, -1),
    );
  });
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
