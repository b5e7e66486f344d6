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

/**
 * A JSON value without the credentials: another server than the service may answer with the request
 * it got.
 */
export function withoutCredentials(
  value: object,
  { apiKey, apiSecret }: { readonly apiKey: string; readonly apiSecret: string },
): object {
  const encoded = Buffer.from(`${apiKey}:${apiSecret}`).toString('base64');
  const redact = (text: string) =>
    [encoded, encoded.replace(/=+$/, ''), apiSecret].reduce(
      (result, secret) => result.replaceAll(secret, '[redacted]'),
      text,
    );
  const json = JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'string' ? redact(one) : one,
  );
  return JSON.parse(json) as object;
}
