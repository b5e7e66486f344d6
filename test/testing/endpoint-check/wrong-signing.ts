import { createHmac } from 'node:crypto';
import { clock, SECRET } from './shop.js';
import { flawed, type WrongHandler } from './wrong-handler.js';

type Recompute = (timestamp: string, body: string) => string;

/** An endpoint that recomputes the signature as its author wrote it, and compares the text. */
const expecting = (flaw: string, says: RegExp, recompute: Recompute): WrongHandler =>
  flawed(
    flaw,
    'valid-accepted',
    () => ({
      isSigned: ({ headers, body }) =>
        recompute(String(headers['x-timestamp']), body.toString()) === headers['x-signature'],
    }),
    says,
  );

/** PHP's function, with its order of arguments. */
const hash_hmac = (data: string, key: string | Buffer, algorithm = 'sha256'): Buffer =>
  createHmac(algorithm, key).update(data).digest();

const signed: Recompute = (timestamp, body) => `${timestamp}.${body}`;
const keyed =
  (key: string | Buffer): Recompute =>
  (timestamp, body) =>
    hash_hmac(signed(timestamp, body), key).toString('hex');

const mistakes: readonly WrongHandler[] = [
  expecting(
    'base64_encode(hash_hmac(…, true)), in PHP',
    /answered 401, but a 2xx with X-Signature in base64 .*signatureEncoding 'base64'/,
    (timestamp, body) => hash_hmac(signed(timestamp, body), SECRET).toString('base64'),
  ),
  expecting(
    'hmac.new(secret, request.data), as for GitHub, in Python',
    /Update the HMAC with X-Timestamp, a full stop, and the raw body/,
    (_, body) => hash_hmac(body, SECRET).toString('hex'),
  ),
  expecting(
    'a body that something has read before, in Node',
    /an empty body signed .*already read the body/,
    (timestamp) => hash_hmac(`${timestamp}.`, SECRET).toString('hex'),
  ),
  expecting(
    'getenv of a variable that is not set, in PHP',
    /is not set, so anyone can sign/,
    keyed(''),
  ),
  expecting(
    'file_get_contents of a secret with a line break, in PHP',
    /with a line break at its end .*Trim the secret/,
    keyed(`${SECRET}\n`),
  ),
  expecting(
    'a secret that is decoded from base64, as for Svix, in Node',
    /decoded from base64 .*Use the secret itself/,
    keyed(Buffer.from(SECRET, 'base64')),
  ),
  expecting(
    'the secret of another environment',
    /and 401 to a signature made with another secret .*same signing secret, of the same environment/,
    keyed('whsec_live'),
  ),
  flawed(
    'strcmp taken for a boolean, in PHP',
    'valid-accepted',
    (shop) => ({ isSigned: (callback) => !shop.isSigned(callback) }),
    /answered 401, and 200 to a signature made with another secret .*comparison is inverted/,
  ),
];

const clocks: readonly WrongHandler[] = [
  flawed(
    'System.currentTimeMillis() - timestamp, in Java',
    'valid-accepted',
    () => ({ isFresh: (timestamp) => Math.abs(clock.now() - timestamp) <= 300_000 }),
    /but a 2xx with X-Timestamp in milliseconds .*with the time in seconds.*timestampUnit/,
  ),
  flawed(
    'a clock that is 20 minutes slow',
    'valid-accepted',
    (shop) => ({ isFresh: (timestamp) => shop.isFresh(timestamp + 1_200) }),
    /Check .* that its clock is right/,
  ),
];

/** Other languages' habits, written as they would be. */
export const habits: readonly WrongHandler[] = [...mistakes, ...clocks];
