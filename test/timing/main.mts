import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { availableParallelism, cpus } from 'node:os';
import { signatureMismatch } from '../../src/callback/refusals.js';
import { createCallbackVerifier } from '../../src/callback/verify.js';
import { createAsyncCallbackVerifier } from '../../src/callback/verify-async.js';
import { version } from '../../src/protocol/version.js';
import { largestT, type Measurement } from './welch.js';

// Whether the time to refuse a signature depends on how many of its leading bytes are right.
//
// The method is dudect's (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?", 2017).
// Two classes of callbacks are refused: `near`, whose signature has its first n bytes right, and `far`,
// whose first byte is wrong already. Each callback has a different body, and so a different digest:
// the signatures of both classes are random bytes, and all that tells the classes apart is how far a
// signature agrees with a secret digest. (With one body for all, the near ones are almost one text,
// which can make a difference by itself: a processor learns to predict how it is parsed.)
// They are prepared a thousand at a time, of one length and made by the same calls, the class of each
// drawn by lot; then one after the other is drawn and measured. Each measurement is a batch of calls
// on one callback, since a clock is too coarse for one. Welch's t compares the classes, with the upper
// percentiles cropped; the largest |t| over the percentiles counts. Below 4.5 no dependence was found;
// from 10 on there is one for certain.
//
// The control is the same harness on a comparison that stops at the first character that differs, over
// the same HMAC, refusing with the same error. If it is not found out, the harness proves nothing,
// and the run fails.
//
//   node --import tsx test/timing/main.mts [--measurements 200000] [--only web]     node or web; with the control

const THRESHOLD = 4.5;
const CERTAIN = 10;
const RIGHT_BYTES = [0, 1, 8, 16, 31] as const;
const ENCODINGS = ['hex', 'base64', 'base64url'] as const;
const ROUND = 1_000;
const BATCH = 4;
const WARM_UP = 20_000;

type Encoding = (typeof ENCODINGS)[number];

const secret = randomBytes(32);
const key = createSecretKey(secret);
const timestamp = '1769860805';
interface CallbackRequest {
  readonly rawBody: Buffer;
  readonly headers: { readonly 'x-timestamp': string; readonly 'x-signature': string };
}

/** A callback whose signature has so many leading bytes right, and the next one wrong. */
function forge(rightBytes: number, encoding: Encoding): CallbackRequest {
  const body = Buffer.from(JSON.stringify({ referenceNumber: randomBytes(64).toString('hex') }));
  const digest = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest();
  const bytes = randomBytes(32);
  digest.copy(bytes, 0, 0, rightBytes);
  bytes[rightBytes] = (digest[rightBytes] ?? 0) ^ (1 + ((randomBytes(1)[0] ?? 0) % 255));
  const signature = bytes.toString(encoding);
  return { rawBody: body, headers: { 'x-timestamp': timestamp, 'x-signature': signature } };
}

interface Forged {
  readonly isNear: boolean;
  readonly request: CallbackRequest;
}

function forgeRound(rightBytes: number, encoding: Encoding): Forged[] {
  return Array.from({ length: ROUND }, () => {
    const isNear = (randomDraw() & 1) === 1;
    return { isNear, request: forge(isNear ? rightBytes : 0, encoding) };
  });
}

type Refuse = (request: CallbackRequest) => unknown;
type Implementation = 'node' | 'web' | 'control';

const now = () => Number(timestamp) * 1000;
const verify = createCallbackVerifier({ signingSecret: secret, now });
const verifyByWeb = createAsyncCallbackVerifier({ signingSecret: secret, now });

const refusals: Record<Implementation, (encoding: Encoding) => Refuse> = {
  node: () => (request) => {
    try {
      verify(request);
    } catch (error) {
      return error;
    }
    throw new Error('a forged signature was accepted');
  },
  web: () => (request) =>
    verifyByWeb(request).then(
      () => {
        throw new Error('a forged signature was accepted');
      },
      (error: unknown) => error,
    ),
  // What must not be done.
  control: (encoding) => (request) => {
    const hmac = createHmac('sha256', key).update(`${timestamp}.`).update(request.rawBody);
    const expected = hmac.digest(encoding);
    const given = request.headers['x-signature'];
    try {
      for (let at = 0; at < expected.length; at += 1) {
        if (expected.charCodeAt(at) !== given.charCodeAt(at)) throw signatureMismatch(1, undefined);
      }
    } catch (error) {
      return error;
    }
    throw new Error('a forged signature was accepted');
  },
};

interface Subject {
  readonly implementation: Implementation;
  readonly encoding: Encoding;
  readonly rightBytes: number;
}

async function measure(
  { implementation, encoding, rightBytes }: Subject,
  count: number,
): Promise<Measurement[]> {
  const refuse = refusals[implementation](encoding);
  const measurements: Measurement[] = [];
  let round: Forged[] = [];
  for (let index = -WARM_UP; index < count; index += 1) {
    // Made anew all the time: where one lies in memory, and what its bytes are, must not be a
    // difference of the classes.
    if (index % ROUND === 0 || round.length === 0) round = forgeRound(rightBytes, encoding);
    const { isNear, request } = round[randomDraw() % ROUND] as Forged;
    const startedAt = process.hrtime.bigint();
    for (let call = 0; call < BATCH; call += 1) {
      const refused = refuse(request);
      if (refused instanceof Promise) await refused;
    }
    const duration = Number(process.hrtime.bigint() - startedAt) / BATCH;
    if (index >= 0) measurements.push({ isNear, duration });
  }
  return measurements;
}

const draws = new Uint32Array(4_096);
let drawn = draws.length;

function randomDraw(): number {
  if (drawn === draws.length) {
    crypto.getRandomValues(draws);
    drawn = 0;
  }
  drawn += 1;
  return draws[drawn - 1] as number;
}

interface Result extends Subject {
  readonly t: number;
  readonly percentile: number;
  readonly medianNs: number;
}

async function test(subject: Subject, count: number): Promise<Result> {
  const measurements = await measure(subject, count);
  const durations = measurements.map(({ duration }) => duration).sort((a, b) => a - b);
  const medianNs = durations[Math.floor(durations.length / 2)] ?? 0;
  return { ...subject, ...largestT(measurements), medianNs };
}

const signed = (t: number) => `${t < 0 ? '-' : '+'}${Math.abs(t).toFixed(2)}`;

function row({ implementation, encoding, rightBytes, t, percentile, medianNs }: Result): string {
  const verdict =
    Math.abs(t) < THRESHOLD
      ? 'no dependence found'
      : Math.abs(t) < CERTAIN
        ? 'suspected'
        : 'depends';
  const cropped = percentile === 1 ? 'none' : `above ${percentile * 100}%`;
  const cells = [
    implementation,
    encoding,
    rightBytes,
    signed(t),
    cropped,
    Math.round(medianNs),
    verdict,
  ];
  return `| ${cells.join(' | ')} |`;
}

function readCount(): number {
  const count = Number(readOption('--measurements') ?? 200_000);
  if (!Number.isSafeInteger(count) || count < 1_000) {
    throw new Error('--measurements must be a whole number from 1000');
  }
  return count;
}

function readOption(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

async function main(): Promise<void> {
  const count = readCount();
  const webCount = Math.ceil(count / 4);
  const only = readOption('--only');
  const all: Subject[] = [
    ...ENCODINGS.flatMap((encoding) =>
      RIGHT_BYTES.map((rightBytes) => ({ implementation: 'node' as const, encoding, rightBytes })),
    ),
    ...RIGHT_BYTES.map((rightBytes) => ({
      implementation: 'web' as const,
      encoding: 'hex' as const,
      rightBytes,
    })),
    ...[0, 16, 31].map((rightBytes) => ({
      implementation: 'control' as const,
      encoding: 'hex' as const,
      rightBytes,
    })),
  ];
  const subjects = all.filter(
    ({ implementation }) => only === undefined || ['control', only].includes(implementation),
  );
  console.log(
    [
      `Timing of refused signatures: ${new Date().toISOString().slice(0, 10)}, merchant-payments ${version}, Node ${process.versions.node}, OpenSSL ${process.versions.openssl}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`,
      `${count} measurements of ${BATCH} calls each a row (web: ${webCount}), half of them near; limit |t| < ${THRESHOLD}, ${CERTAIN} is certain`,
      '',
      '| what refuses | encoding | right bytes | t | cropped | median ns | verdict |',
      '| --- | --- | --- | --- | --- | --- | --- |',
    ].join('\n'),
  );
  const results: Result[] = [];
  for (const subject of subjects) {
    const result = await test(subject, subject.implementation === 'web' ? webCount : count);
    console.log(row(result));
    results.push(result);
  }
  const leaking = results.filter(
    ({ implementation, t }) => implementation !== 'control' && Math.abs(t) >= THRESHOLD,
  );
  const isFound = results.some(
    ({ implementation, rightBytes, t }) =>
      implementation === 'control' && rightBytes === 31 && Math.abs(t) >= THRESHOLD,
  );
  console.log(
    `\n${results.length - leaking.length} of ${results.length} rows are as they should be; the control, which stops at the first difference, was ${isFound ? 'found out' : 'NOT found out'}`,
  );
  if (!isFound)
    console.log('The harness proves nothing in this run: measure more, or on a quieter machine.');
  process.exitCode = leaking.length === 0 && isFound ? 0 : 1;
}

await main();
