import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Callback, clock, SECRET, Shop } from './shop.js';
import type { WrongHandler } from './wrong-handler.js';

type Recompute = (timestamp: string, body: string) => string;

/** An endpoint that recomputes the signature as its author wrote it, and compares the text. */
const expecting = (flaw: string, says: RegExp, recompute: Recompute): WrongHandler => ({
  flaw,
  fails: ['valid-accepted'],
  says,
  create: () =>
    new (class extends Shop {
      protected override isSigned({ headers, body }: Callback): boolean {
        const timestamp = String(headers['x-timestamp']);
        return recompute(timestamp, body.toString()) === headers['x-signature'];
      }
    })(),
});

/** PHP's function, with its order of arguments. */
const hash_hmac = (data: string, key: string | Buffer, algorithm = 'sha256'): Buffer =>
  createHmac(algorithm, key).update(data).digest();

const signed: Recompute = (timestamp, body) => `${timestamp}.${body}`;
const keyed =
  (key: string | Buffer): Recompute =>
  (timestamp, body) =>
    hash_hmac(signed(timestamp, body), key).toString('hex');
const rewritten =
  (write: (json: string) => string): Recompute =>
  (timestamp, body) =>
    hash_hmac(signed(timestamp, write(body)), SECRET).toString('hex');
const joined =
  (text: Recompute): Recompute =>
  (timestamp, body) =>
    hash_hmac(text(timestamp, body), SECRET).toString('hex');

const ORDER = /Update the HMAC with X-Timestamp, a full stop, and the raw body/;
const UNSET = /is not set, so anyone can sign/;

const php: readonly WrongHandler[] = [
  expecting(
    'base64_encode(hash_hmac(…, true)), in PHP',
    /answered 401, but a 2xx with X-Signature in base64 .*digest\('hex'\).*signatureEncoding 'base64'/,
    (timestamp, body) => hash_hmac(signed(timestamp, body), SECRET).toString('base64'),
  ),
  expecting(
    'hash_hmac with the key where the data goes, in PHP',
    /but a 2xx with the secret signed with the callback as the key .*are swapped/,
    (timestamp, body) => hash_hmac(SECRET, signed(timestamp, body)).toString('hex'),
  ),
  expecting(
    'json_encode($_POST), which is empty for JSON, in PHP',
    /but a 2xx with an empty body signed \(\[\]\) .*php:\/\/input/,
    joined((timestamp) => `${timestamp}.[]`),
  ),
  expecting('getenv of a variable that is not set, in PHP', UNSET, keyed('')),
  expecting(
    'file_get_contents of a secret with a line break, in PHP',
    /with a line break at its end .*Trim the secret/,
    keyed(`${SECRET}\n`),
  ),
  expecting(
    'sha1, from an older interface, in PHP',
    /an HMAC of sha1 .*Use SHA-256/,
    (timestamp, body) => hash_hmac(signed(timestamp, body), SECRET, 'sha1').toString('hex'),
  ),
];

const python: readonly WrongHandler[] = [
  expecting(
    "f'{timestamp}.{request.data}', in Python",
    /b'…' .*timestamp\.encode\(\)/,
    (timestamp, body) => hash_hmac(`${timestamp}.b'${body}'`, SECRET).toString('hex'),
  ),
  expecting(
    'json.dumps(request.json), in Python',
    /the body signed as Python's json\.dumps writes it .*request\.get_data\(\)/,
    rewritten((json) => json.replaceAll('":', '": ').replaceAll(',"', ', "')),
  ),
  expecting(
    'hmac.new(secret, request.data), as for GitHub, in Python',
    ORDER,
    joined((_, body) => body),
  ),
  expecting(
    "'sha256=' before the digest, as for GitHub, in Python",
    /with the prefix sha256= .*no prefix/,
    (timestamp, body) => `sha256=${joined(signed)(timestamp, body)}`,
  ),
  expecting("str(os.environ.get('SECRET')) without the variable, in Python", UNSET, keyed('None')),
];

const go: readonly WrongHandler[] = [
  expecting(
    'json.Marshal of a map, in Go',
    /the body signed as a program that sorts the keys writes it .*io\.ReadAll/,
    rewritten((json) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(JSON.parse(json)).sort(([one], [other]) => (one < other ? -1 : 1)),
        ),
      ),
    ),
  ),
  expecting(
    'json.Marshal of a struct with time.Time, in Go',
    /a program that parses the times/,
    rewritten((json) => json.replaceAll('+00:00"', 'Z"')),
  ),
  expecting(
    'no full stop, in Go',
    ORDER,
    joined((timestamp, body) => timestamp + body),
  ),
  expecting(
    'a line break for the full stop, in Go',
    ORDER,
    joined((timestamp, body) => `${timestamp}\n${body}`),
  ),
];

const java: readonly WrongHandler[] = [
  expecting('String.format("%02X"), in Java', /in uppercase hex .*lower case/, (timestamp, body) =>
    joined(signed)(timestamp, body).toUpperCase(),
  ),
  expecting(
    'Base64.getUrlEncoder().withoutPadding(), in Java',
    /but a 2xx with X-Signature in base64url/,
    (timestamp, body) => hash_hmac(signed(timestamp, body), SECRET).toString('base64url'),
  ),
  expecting(
    'body + "." + timestamp, in Java',
    ORDER,
    joined((timestamp, body) => `${body}.${timestamp}`),
  ),
  expecting('HmacSHA512, in Java', /an HMAC of sha512/, (timestamp, body) =>
    hash_hmac(signed(timestamp, body), SECRET, 'sha512').toString('hex'),
  ),
];

/** What a decoder throws ends in a 500, or ends the connection. */
const throwing = (
  flaw: string,
  fails: WrongHandler['fails'],
  answer: (response: ServerResponse) => void,
): WrongHandler => ({
  flaw,
  fails,
  says: /but a 2xx with X-Signature in base64 .*digest\('hex'\)/,
  create: () =>
    new (class extends Shop {
      protected override isSigned({ headers, body }: Callback): boolean {
        const text = signed(String(headers['x-timestamp']), body.toString());
        const signature = Buffer.from(String(headers['x-signature']), 'base64');
        return timingSafeEqual(signature, hash_hmac(text, SECRET));
      }
      protected override answer(response: ServerResponse, status: number): void {
        if (status === 500) answer(response);
        else super.answer(response, status);
      }
    })(),
});

const node: readonly WrongHandler[] = [
  throwing('base64.b64decode and a ValueError, in Flask', ['valid-accepted'], (response) =>
    response.writeHead(500).end(),
  ),
  throwing('a panic on a digest of another length, in Go', ['reachable'], (response) =>
    response.destroy(),
  ),
  expecting(
    'a template with a parsed request.body, in Node',
    /"\[object Object\]" signed/,
    (timestamp) => hash_hmac(`${timestamp}.[object Object]`, SECRET).toString('hex'),
  ),
  expecting('String(process.env.SECRET) without the variable, in Node', UNSET, keyed('undefined')),
  expecting(
    'a secret that is decoded from base64, as for Svix, in Node',
    /decoded from base64 .*Use the secret itself/,
    keyed(Buffer.from(SECRET, 'base64')),
  ),
  expecting(
    'quotes that docker --env-file keeps',
    /in quotes .*Remove the quotes/,
    keyed(`"${SECRET}"`),
  ),
  expecting('base64 of the body alone, as for Shopify', /X-Signature in base64/, (_, body) =>
    hash_hmac(body, SECRET).toString('base64'),
  ),
  expecting(
    'the secret of another environment',
    /no 2xx to \d+ other ways to sign it either .*same signing secret, of the same environment/,
    keyed('whsec_live'),
  ),
  expecting(
    't=…,v1=…, as for Stripe',
    /other ways to sign it either .*same signing secret/,
    (timestamp, body) => `t=${timestamp},v1=${joined(signed)(timestamp, body)}`,
  ),
  {
    flaw: 'strcmp taken for a boolean, in PHP',
    fails: ['valid-accepted'],
    says: /answered 401, and 200 to a signature made with another secret .*comparison is inverted/,
    create: () =>
      new (class extends Shop {
        protected override isSigned(callback: Callback): boolean {
          return !super.isSigned(callback);
        }
      })(),
  },
];

const misread = (
  flaw: string,
  says: RegExp,
  ageMs: (timestamp: number) => number,
): WrongHandler => ({
  flaw,
  fails: ['valid-accepted'],
  says,
  create: () =>
    new (class extends Shop {
      protected override isFresh(timestamp: number): boolean {
        return Math.abs(ageMs(timestamp)) <= 300_000;
      }
    })(),
});

const clocks: readonly WrongHandler[] = [
  misread(
    'System.currentTimeMillis() - timestamp, in Java',
    /but a 2xx with X-Timestamp in milliseconds .*Math\.floor\(Date\.now\(\) \/ 1000\).*timestampUnit/,
    (timestamp) => clock.now() - timestamp,
  ),
  misread(
    'datetime.utcnow().timestamp() east of Greenwich, in Python',
    /but a 2xx with X-Timestamp 2 h ago .*no time zone/,
    (timestamp) => clock.now() - 7_200_000 - timestamp * 1000,
  ),
  misread(
    'a local time that is taken for UTC, in PHP',
    /but a 2xx with X-Timestamp 5 h ahead .*no time zone/,
    (timestamp) => clock.now() + 18_000_000 - timestamp * 1000,
  ),
  {
    ...misread(
      'a clock that is 20 minutes slow',
      /its clock \(the Date header\) is \d+ s behind/,
      (timestamp) => clock.now() - 1_200_000 - timestamp * 1000,
    ),
    create: () =>
      new (class extends Shop {
        protected override isFresh(timestamp: number): boolean {
          return super.isFresh(timestamp + 1_200);
        }
        protected override async handle(request: IncomingMessage, response: ServerResponse) {
          response.setHeader('date', new Date(clock.now() - 1_200_000).toUTCString());
          await super.handle(request, response);
        }
      })(),
  },
  {
    flaw: 'milliseconds and base64',
    fails: ['valid-accepted'],
    says: /X-Timestamp in milliseconds and X-Signature in base64/,
    create: () =>
      new (class extends Shop {
        protected override isFresh(timestamp: number): boolean {
          return super.isFresh(timestamp / 1000);
        }
        protected override isSigned({ headers, body }: Callback): boolean {
          const expected = hash_hmac(
            signed(String(headers['x-timestamp']), body.toString()),
            SECRET,
          );
          return expected.toString('base64') === headers['x-signature'];
        }
      })(),
  },
];

/** Other languages' habits, written as they would be. */
export const habits: readonly WrongHandler[] = [
  ...php,
  ...python,
  ...go,
  ...java,
  ...node,
  ...clocks,
];
