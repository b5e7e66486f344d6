import type { SignatureEncoding } from '../../protocol/wire.js';
import { serializeByAll } from '../diagnosis/body.js';
import type { ResolvedCheckOptions } from './options.js';
import type { CheckVerdict } from './verdict.js';

/** How a signature is made. */
export interface Recipe {
  readonly algorithm: string;
  readonly key: Buffer;
  readonly timestamp: (nowMs: number) => string;
  readonly signed: (timestamp: string, body: string) => string;
  readonly write: (digest: Buffer) => string;
}

/** Another signature that an endpoint may expect. */
export interface Trial {
  /** What it accepts. */
  readonly what: string;
  /** The line to change. */
  readonly remedy: string;
  readonly change: Partial<Recipe>;
  readonly option?: CheckVerdict['option'] | undefined;
  /** Whether key and text change places, as in a call with swapped arguments. */
  readonly isSwapped?: boolean;
}

const ORDER = 'Update the HMAC with X-Timestamp, a full stop, and the raw body, in this order.';
const RAW =
  'Sign the bytes as received, before anything parses them (express.raw, php://input, request.get_data(), io.ReadAll).';

const signing = (what: string, remedy: string, signed: Recipe['signed']): Trial => ({
  what,
  remedy,
  change: { signed },
});

const signedTexts: readonly Trial[] = [
  signing('the body alone signed', ORDER, (_, body) => body),
  signing('the full stop left out', ORDER, (time, body) => time + body),
  signing('a colon in place of the full stop', ORDER, (time, body) => `${time}:${body}`),
  signing('a line break in place of the full stop', ORDER, (time, body) => `${time}\n${body}`),
  signing('the body signed before the timestamp', ORDER, (time, body) => `${body}.${time}`),
  // The last two are what json_encode($_POST) and JSON.stringify write for it.
  ...['', '[]', '{}'].map((left) =>
    signing(
      `an empty body signed${left && ` (${left})`}`,
      `Something else has already read the body. ${RAW}`,
      (time) => `${time}.${left}`,
    ),
  ),
  signing(
    '"[object Object]" signed',
    `A parsed object became text. ${RAW}`,
    (time) => `${time}.[object Object]`,
  ),
  signing(
    "the body signed as b'…'",
    'Bytes became text in Python: sign timestamp.encode() + b"." + body.',
    (time, body) => `${time}.b'${body}'`,
  ),
  signing('a line break signed after the body', RAW, (time, body) => `${time}.${body}\n`),
];

function listEncodings(given: SignatureEncoding): readonly Trial[] {
  const fix = `Write the digest in ${given} before it is compared: digest('${given}') in Node.`;
  const hex = (digest: Buffer): string => digest.toString('hex');
  const others = (['hex', 'base64', 'base64url'] as const).filter((encoding) => encoding !== given);
  return [
    ...others.map(
      (encoding): Trial => ({
        what: `X-Signature in ${encoding}`,
        remedy: `${fix} If the service sends ${encoding}, check with signatureEncoding '${encoding}'.`,
        change: { write: (digest) => digest.toString(encoding) },
        option: 'signatureEncoding',
      }),
    ),
    {
      what: 'X-Signature in uppercase hex',
      remedy: `${fix} Compare bytes, or text in lower case.`,
      change: { write: (digest) => hex(digest).toUpperCase() },
    },
    {
      what: 'X-Signature with the prefix sha256=',
      remedy: `Expect no prefix. ${fix}`,
      change: { write: (digest) => `sha256=${hex(digest)}` },
    },
  ];
}

export const inUnit =
  (unit: ResolvedCheckOptions['timestampUnit'], aheadMs = 0): Recipe['timestamp'] =>
  (nowMs) => {
    const seconds = Math.floor((nowMs + aheadMs) / 1000);
    return String(unit === 'seconds' ? seconds : seconds * 1000);
  };

function listUnits(given: ResolvedCheckOptions['timestampUnit']): readonly Trial[] {
  const [unit, line] =
    given === 'seconds'
      ? (['milliseconds', 'Math.floor(Date.now() / 1000)'] as const)
      : (['seconds', 'Date.now()'] as const);
  return [
    {
      what: `X-Timestamp in ${unit}`,
      remedy: `Compare X-Timestamp with the time in ${given}: ${line} in Node. If the service sends ${unit}, check with timestampUnit '${unit}'.`,
      change: { timestamp: inUnit(unit) },
      option: 'timestampUnit',
    },
  ];
}

/** A clock that is read as local time, in any time zone. */
const listZones = (unit: ResolvedCheckOptions['timestampUnit']): readonly Trial[] =>
  Array.from({ length: 27 }, (_, index) => index - 12)
    .filter((hours) => hours !== 0)
    .map((hours) => ({
      what: `X-Timestamp ${Math.abs(hours)} h ${hours > 0 ? 'ahead' : 'ago'}`,
      remedy:
        'Compare X-Timestamp with Unix time, which has no time zone: time.time() in Python, Instant.now() in Java, and no local time converted as if it were UTC.',
      change: { timestamp: inUnit(unit, hours * 3_600_000) },
    }));

const reuse = (what: string, key: Buffer | string, remedy: string): Trial => ({
  what: `the signing secret ${what}`,
  remedy,
  change: { key: Buffer.from(key) },
});

const TRIM = 'Trim the secret when it is read from a file.';
const UNQUOTE = 'Remove the quotes around the secret where it is set.';
const AS_IS = 'Use the secret itself as the key, without decoding or encoding it.';
const UNSET =
  'Its variable for the signing secret is not set, so anyone can sign: set it, and refuse to start without it.';

function listKeys(secret: Buffer): readonly Trial[] {
  const text = secret.toString();
  const isHex = /^([\da-f]{2})+$/i.test(text);
  const readings = [
    reuse('with a line break at its end', `${text}\n`, TRIM),
    reuse('in quotes', `"${text}"`, UNQUOTE),
    reuse('in quotes', `'${text}'`, UNQUOTE),
    reuse('decoded from base64', Buffer.from(text, 'base64'), AS_IS),
    ...(isHex ? [reuse('decoded from hex', Buffer.from(text, 'hex'), AS_IS)] : []),
  ];
  return [
    // Bytes that are not text have no such readings.
    ...(Buffer.from(text).equals(secret) ? readings : []),
    reuse('encoded in base64', secret.toString('base64'), AS_IS),
    reuse('encoded in hex', secret.toString('hex'), AS_IS),
    reuse('left empty', '', UNSET),
    ...['undefined', 'null', 'None', 'nil', 'false'].map((word) =>
      reuse(`replaced by "${word}"`, word, UNSET),
    ),
  ];
}

const algorithms: readonly Trial[] = ['sha1', 'sha512'].map((algorithm) => ({
  what: `an HMAC of ${algorithm}`,
  remedy: "Use SHA-256: createHmac('sha256', secret) in Node.",
  change: { algorithm },
}));

const swapped: Trial = {
  what: 'the secret signed with the callback as the key',
  remedy:
    'The arguments of its HMAC are swapped: the secret is the key (hash_hmac in PHP takes it last, hmac.new in Python first).',
  change: {},
  isSwapped: true,
};

/** The body as a program that parsed it serializes it again: the endpoint expects the signature of that. */
function listRewrites(body: string): readonly Trial[] {
  const writers = serializeByAll(body);
  // Many programs write the offset of a time as Z.
  writers.set(body.replaceAll('+00:00"', 'Z"'), 'a program that parses the times');
  writers.delete(body);
  return [...writers].map(([written, writer]) => ({
    what: `the body signed as ${writer} writes it`,
    remedy: RAW,
    change: { signed: (timestamp) => `${timestamp}.${written}` },
  }));
}

const join = (one: Trial, other: Trial): Trial => ({
  what: `${one.what} and ${other.what}`,
  remedy: `${one.remedy} ${other.remedy}`,
  change: { ...one.change, ...other.change },
  option: one.option ?? other.option,
});

/** Ways to sign this body, the likeliest first: one mistake, and then two that go together. */
export function listTrials(options: ResolvedCheckOptions, body: string): readonly Trial[] {
  const { signatureEncoding, timestampUnit, signingKey } = options;
  const ofEncoding = listEncodings(signatureEncoding);
  const ofUnit = listUnits(timestampUnit);
  // Pairs that occur in practice: every pair would be too many requests.
  const pairs = [...ofUnit, ...signedTexts].flatMap((one) =>
    ofEncoding.map((other) => join(one, other)),
  );
  return [
    ...ofEncoding,
    ...ofUnit,
    ...signedTexts,
    ...listRewrites(body),
    ...listKeys(signingKey.export()),
    ...algorithms,
    swapped,
    ...listZones(timestampUnit),
    ...pairs,
  ];
}
