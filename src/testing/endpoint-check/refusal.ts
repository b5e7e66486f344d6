import { createHmac } from 'node:crypto';
import { SIGNATURE_HEADER, type SignatureEncoding, TIMESTAMP_HEADER } from '../../protocol/wire.js';
import { serializeByAll } from '../diagnosis/body.js';
import {
  type Answer,
  describeAnswer,
  isAccepted,
  remedyOfRecord,
  remedyOfRefusal,
} from './answer.js';
import { describeClock, type SignedRequest, withHeader } from './endpoint.js';
import type { ResolvedCheckOptions } from './options.js';
import { FOREIGN_KEY, type Stage } from './stage.js';
import { type CheckVerdict, fail } from './verdict.js';

type Text = string | Buffer;

/** How a signature is made. */
interface Recipe {
  readonly unit: ResolvedCheckOptions['timestampUnit'];
  readonly aheadSeconds: number;
  readonly signed: (timestamp: string, body: string) => string;
  readonly key: Text;
  readonly digest: (key: Text, signed: Text) => Buffer;
  readonly write: (digest: Buffer) => string;
}

/** Another signature that an endpoint may expect: what it accepts, the line to change, and how it is made. */
type Trial = readonly [
  what: string,
  remedy: string,
  change: Partial<Recipe>,
  option?: CheckVerdict['option'],
];

const hmac =
  (algorithm: string): Recipe['digest'] =>
  (key, signed) =>
    createHmac(algorithm, key).update(signed).digest();

const ORDER = 'Update the HMAC with X-Timestamp, a full stop, and the raw body, in this order.';
const RAW =
  'Sign the bytes as received, before anything parses them (express.raw, php://input, request.get_data(), io.ReadAll).';
const READ = `Something else has already read the body. ${RAW}`;
const PARSED = `A parsed object became text. ${RAW}`;
const PYTHON = 'Bytes became text in Python: sign timestamp.encode() + b"." + body.';

const texts: readonly Trial[] = [
  ['the body alone signed', ORDER, { signed: (_, body) => body }],
  ['the full stop left out', ORDER, { signed: (time, body) => time + body }],
  ['a colon in place of the full stop', ORDER, { signed: (time, body) => `${time}:${body}` }],
  ['a line break in place of the full stop', ORDER, { signed: (time, body) => `${time}\n${body}` }],
  ['the body signed before the timestamp', ORDER, { signed: (time, body) => `${body}.${time}` }],
  ['an empty body signed', READ, { signed: (time) => `${time}.` }],
  // What json_encode($_POST) and JSON.stringify write for it.
  ['an empty body signed ([])', READ, { signed: (time) => `${time}.[]` }],
  ['an empty body signed ({})', READ, { signed: (time) => `${time}.{}` }],
  ['"[object Object]" signed', PARSED, { signed: (time) => `${time}.[object Object]` }],
  ["the body signed as b'…'", PYTHON, { signed: (time, body) => `${time}.b'${body}'` }],
  ['a line break signed after the body', RAW, { signed: (time, body) => `${time}.${body}\n` }],
];

function listEncodings(given: SignatureEncoding): readonly Trial[] {
  const fix = `Write the digest in ${given} before it is compared: digest('${given}') in Node.`;
  const lower = `${fix} Compare bytes, or text in lower case.`;
  const others = (['hex', 'base64', 'base64url'] as const)
    .filter((encoding) => encoding !== given)
    .map((encoding): Trial => {
      const remedy = `${fix} If the service sends ${encoding}, check with signatureEncoding '${encoding}'.`;
      const write: Recipe['write'] = (digest) => digest.toString(encoding);
      return [`X-Signature in ${encoding}`, remedy, { write }, 'signatureEncoding'];
    });
  const upper: Recipe['write'] = (digest) => digest.toString('hex').toUpperCase();
  const prefixed: Recipe['write'] = (digest) => `sha256=${digest.toString('hex')}`;
  return [
    ...others,
    ['X-Signature in uppercase hex', lower, { write: upper }],
    ['X-Signature with the prefix sha256=', `Expect no prefix. ${fix}`, { write: prefixed }],
  ];
}

function otherUnit(given: Recipe['unit']): Trial {
  const unit = given === 'seconds' ? 'milliseconds' : 'seconds';
  const line = given === 'seconds' ? 'Math.floor(Date.now() / 1000)' : 'Date.now()';
  const remedy = `Compare X-Timestamp with the time in ${given}: ${line} in Node. If the service sends ${unit}, check with timestampUnit '${unit}'.`;
  return [`X-Timestamp in ${unit}`, remedy, { unit }, 'timestampUnit'];
}

const ZONE =
  'Compare X-Timestamp with Unix time, which has no time zone: time.time() in Python, Instant.now() in Java, and no local time converted as if it were UTC.';

/** A clock that is read as local time, in any time zone. */
const zones: readonly Trial[] = Array.from({ length: 27 }, (_, index) => index - 12)
  .filter((hours) => hours !== 0)
  .map((hours) => {
    const what = `X-Timestamp ${Math.abs(hours)} h ${hours > 0 ? 'ahead' : 'ago'}`;
    return [what, ZONE, { aheadSeconds: hours * 3600 }];
  });

const TRIM = 'Trim the secret when it is read from a file.';
const UNQUOTE = 'Remove the quotes around the secret where it is set.';
const AS_IS = 'Use the secret itself as the key, without decoding or encoding it.';
const UNSET =
  'Its variable for the signing secret is not set, so anyone can sign: set it, and refuse to start without it.';

function listKeys(secret: Buffer): readonly Trial[] {
  const text = secret.toString();
  const readings: readonly Trial[] = [
    ['the signing secret with a line break at its end', TRIM, { key: `${text}\n` }],
    ['the signing secret in quotes', UNQUOTE, { key: `"${text}"` }],
    ['the signing secret in quotes', UNQUOTE, { key: `'${text}'` }],
    ['the signing secret decoded from base64', AS_IS, { key: Buffer.from(text, 'base64') }],
    ['the signing secret decoded from hex', AS_IS, { key: Buffer.from(text, 'hex') }],
  ];
  return [
    // First, since what is not hex is decoded as nothing.
    ['the signing secret left empty', UNSET, { key: '' }],
    ...['undefined', 'null', 'None', 'nil', 'false'].map(
      (word): Trial => [`the signing secret replaced by "${word}"`, UNSET, { key: word }],
    ),
    // Bytes that are not text have no such readings.
    ...(Buffer.from(text).equals(secret) ? readings : []),
    ['the signing secret encoded in base64', AS_IS, { key: secret.toString('base64') }],
    ['the signing secret encoded in hex', AS_IS, { key: secret.toString('hex') }],
  ];
}

const SHA = "Use SHA-256: createHmac('sha256', secret) in Node.";
const SWAPPED =
  'The arguments of its HMAC are swapped: the secret is the key (hash_hmac in PHP takes it last, hmac.new in Python first).';
const swap: Recipe['digest'] = (key, signed) => hmac('sha256')(signed, key);

const digests: readonly Trial[] = [
  ['an HMAC of sha1', SHA, { digest: hmac('sha1') }],
  ['an HMAC of sha512', SHA, { digest: hmac('sha512') }],
  ['the secret signed with the callback as the key', SWAPPED, { digest: swap }],
];

/** The body as a program that parsed it serializes it again: the endpoint expects the signature of that. */
function listRewrites(body: string): readonly Trial[] {
  const writers = serializeByAll(body);
  // Many programs write the offset of a time as Z.
  writers.set(body.replaceAll('+00:00"', 'Z"'), 'a program that parses the times');
  writers.delete(body);
  return [...writers].map(([json, writer]) => [
    `the body signed as ${writer} writes it`,
    RAW,
    { signed: (time) => `${time}.${json}` },
  ]);
}

/** Ways to sign this body, the likeliest first: one mistake, and then two that go together. */
function listTrials(options: ResolvedCheckOptions, body: string): readonly Trial[] {
  const encodings = listEncodings(options.signatureEncoding);
  const unit = otherUnit(options.timestampUnit);
  // Pairs that occur in practice: every pair would be too many requests.
  const pairs = [unit, ...texts].flatMap(([what, remedy, change, option]) =>
    encodings.map((other): Trial => {
      const both = { ...change, ...other[2] };
      return [`${what} and ${other[0]}`, `${remedy} ${other[1]}`, both, option ?? other[3]];
    }),
  );
  const keys = listKeys(options.signingKey.export());
  return [
    ...encodings,
    unit,
    ...texts,
    ...listRewrites(body),
    ...keys,
    ...digests,
    ...zones,
    ...pairs,
  ];
}

function signAs(stage: Stage, request: SignedRequest, change: Partial<Recipe>): SignedRequest {
  const { options } = stage;
  const recipe: Recipe = {
    unit: options.timestampUnit,
    aheadSeconds: 0,
    signed: (timestamp, body) => `${timestamp}.${body}`,
    key: options.signingKey.export(),
    digest: hmac('sha256'),
    write: (digest) => digest.toString(options.signatureEncoding),
    ...change,
  };
  const timestamp = stage.timestampOf(recipe.aheadSeconds, recipe.unit);
  const signed = recipe.signed(timestamp, Buffer.from(request.body).toString());
  const signature = recipe.write(recipe.digest(recipe.key, signed));
  const dated = withHeader(request, TIMESTAMP_HEADER, timestamp);
  return withHeader(dated, SIGNATURE_HEADER, signature);
}

/** Whether another signature may help: not if the request did not reach the handler. */
const mayHelp = ({ status = 0, failureCode }: Answer): boolean =>
  status >= 400
    ? ![405, 415, 429, 502, 504].includes(status)
    : // In Go and Python an exception resets the connection.
      failureCode === 'ECONNRESET';

/** Explains why a valid callback is refused, by what else the endpoint accepts and how it answers a forgery. */
export async function explainRefusal(
  stage: Stage,
  request: SignedRequest,
  answer: Answer,
): Promise<CheckVerdict> {
  const explain = (
    seen: string,
    { remedy, option }: Pick<CheckVerdict, 'remedy' | 'option'>,
  ): CheckVerdict => {
    const detail = `a valid callback: the endpoint ${describeAnswer(answer)}${seen}`;
    return { ...fail(detail + describeClock(answer), answer), remedy, option };
  };
  if (answer.asksForLogin || !mayHelp(answer)) return explain('', remedyOfRefusal(answer));
  const again = await stage.send(request);
  if (isAccepted(again))
    return explain(`, and ${again.status} to the same callback again`, {
      remedy:
        'Its log says what failed at first, such as a connection that was not open yet. Make it listen only when it is ready.',
    });
  if (!mayHelp(again)) return explain('', remedyOfRefusal(answer));
  const forged = await stage.send(signAs(stage, request, { key: FOREIGN_KEY.export() }));
  const other = `, and ${forged.status ?? 'none'} to a signature made with another secret`;
  if (isAccepted(forged))
    return explain(other, {
      remedy:
        'Its comparison is inverted: refuse when the two digests differ (strcmp and compareTo return 0 when they are equal).',
    });
  if (forged.status !== undefined && forged.status !== again.status)
    return explain(other, remedyOfRecord(answer));
  const { trial, tried } = await tryOthers(stage, request);
  if (trial !== undefined) {
    const [what, remedy, , option] = trial;
    return explain(`, but a 2xx with ${what}`, { remedy, option });
  }
  // It may have failed before it refused anything: only its log says where.
  if (!(answer.status && answer.status < 500)) return explain(other, remedyOfRefusal(answer));
  const isRecord = again.quote?.() === answer.quote?.() && forged.quote?.() !== answer.quote?.();
  return isRecord
    ? explain(
        ', with another body than to a signature made with another secret',
        remedyOfRecord(answer),
      )
    : explain(`, and no 2xx to ${tried} other ways to sign it either`, remedyOfRefusal(answer));
}

/** Looks for another way to sign the callback that the endpoint accepts. */
async function tryOthers(
  stage: Stage,
  request: SignedRequest,
): Promise<{ readonly trial?: Trial; readonly tried: number }> {
  const { clock, timeoutMs } = stage.options;
  const startedMs = clock.elapsedMs();
  let tried = 0;
  for (const trial of listTrials(stage.options, Buffer.from(request.body).toString())) {
    const answer = await stage.send(signAs(stage, request, trial[2]));
    tried += 1;
    if (isAccepted(answer)) return { trial, tried };
    const isOver = clock.elapsedMs() - startedMs > timeoutMs;
    if (isOver || !mayHelp(answer)) break;
  }
  return { tried };
}
