import { createHash, timingSafeEqual } from 'node:crypto';

/** What a request must present. An absent part accepts anything that is not empty. */
export interface ExpectedCredentials {
  readonly apiKey: string | undefined;
  readonly apiSecret: string | undefined;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Whether an Authorization header carries the account's credentials (interface section 5.1). */
export function isAuthorized(header: string | null, expected: ExpectedCredentials): boolean {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return false;
  const decoded = Buffer.from(encoded, 'base64').toString();
  const colon = decoded.indexOf(':');
  // Without a colon nothing is left for the secret, and an empty one is refused.
  const key = isSame(decoded.slice(0, Math.max(colon, 0)), expected.apiKey);
  const secret = isSame(colon < 0 ? '' : decoded.slice(colon + 1), expected.apiSecret);
  return key && secret;
}

// Digests have one length, so the comparison takes the same time whatever came.
function isSame(came: string, expected: string | undefined): boolean {
  if (came === '') return false;
  return expected === undefined || timingSafeEqual(digest(came), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
