import { hash, timingSafeEqual } from 'node:crypto';

/** What a request must present. An absent part accepts anything that is not empty. */
export interface ExpectedCredentials<Part = string> {
  readonly apiKey: Part | undefined;
  readonly apiSecret: Part | undefined;
}

/** Creates the check of an Authorization header for the account's credentials (interface section 5.1). */
export function createCredentialCheck({
  apiKey,
  apiSecret,
}: ExpectedCredentials): (header: string | undefined) => boolean {
  const expected = {
    apiKey: apiKey === undefined ? undefined : digest(apiKey),
    apiSecret: apiSecret === undefined ? undefined : digest(apiSecret),
  };
  return (header) => isAuthorized(header, expected);
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

function isAuthorized(header: string | undefined, expected: ExpectedCredentials<Buffer>): boolean {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return false;
  const decoded = Buffer.from(encoded, 'base64').toString();
  const colon = decoded.indexOf(':');
  // Without a colon the secret is empty, and refused.
  const key = isSame(decoded.slice(0, Math.max(colon, 0)), expected.apiKey);
  const secret = isSame(colon < 0 ? '' : decoded.slice(colon + 1), expected.apiSecret);
  return key && secret;
}

// Digests have one length, so the comparison takes the same time for every input.
function isSame(given: string, expected: Buffer | undefined): boolean {
  if (given === '') return false;
  return expected === undefined || timingSafeEqual(digest(given), expected);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
