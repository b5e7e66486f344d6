import { createHmac, createSecretKey, randomBytes, randomInt } from 'node:crypto';
import { signatureMismatch } from '../../src/callback/refusals.js';
import { createCallbackVerifier } from '../../src/callback/verify.js';
import { createAsyncCallbackVerifier } from '../../src/callback/verify-async.js';
import { largestT, type Measurement } from './welch.js';

// Whether the time to refuse a signature depends on how many of its leading bytes are right:
// `node --import tsx test/timing/main.mts [measurements]`, 200,000 by default.
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

const THRESHOLD = 4.5;
const RIGHT_BYTES = [0, 1, 8, 16, 31];
const ROUND = 1_000;
const BATCH = 4;
const WARM_UP = 20_000;

const secret = randomBytes(32);
const key = createSecretKey(secret);
const timestamp = '1769860805';

type Encoding = 'hex' | 'base64' | 'base64url';

/** A callback whose signature has so many leading bytes right, and the next one wrong. */
function forge(rightBytes: number, encoding: Encoding) {
  const rawBody = Buffer.from(JSON.stringify({ referenceNumber: randomBytes(64).toString('hex') }));
  const digest = createHmac('sha256', key).update(`${timestamp}.`).update(rawBody).digest();
  const bytes = randomBytes(32);
  digest.copy(bytes, 0, 0, rightBytes);
  bytes[rightBytes] = (digest[rightBytes] ?? 0) ^ (1 + randomInt(255));
  const signature = bytes.toString(encoding);
  return { rawBody, headers: { 'x-timestamp': timestamp, 'x-signature': signature } };
}

type Request = ReturnType<typeof forge>;

const forgeRound = (rightBytes: number, encoding: Encoding) =>
  Array.from({ length: ROUND }, () => {
    const isNear = randomInt(2) === 1;
    return { isNear, request: forge(isNear ? rightBytes : 0, encoding) };
  });

const now = () => Number(timestamp) * 1000;
const verify = createCallbackVerifier({ signingSecret: secret, now });
const verifyByWeb = createAsyncCallbackVerifier({ signingSecret: secret, now });

function refuseByNode(request: Request): unknown {
  try {
    return verify(request);
  } catch (error) {
    return error;
  }
}

const refuseByWeb = (request: Request): Promise<unknown> =>
  verifyByWeb(request).catch((error: unknown) => error);

/** What must not be done. */
function refuseEarly({ rawBody, headers }: Request): unknown {
  const expected = createHmac('sha256', key).update(`${timestamp}.`).update(rawBody).digest('hex');
  try {
    for (let at = 0; at < expected.length; at += 1) {
      if (expected.charCodeAt(at) !== headers['x-signature'].charCodeAt(at)) {
        throw signatureMismatch(1, undefined);
      }
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

interface Subject {
  readonly name: 'node' | 'web' | 'control';
  readonly refuse: (request: Request) => unknown;
  readonly encoding: Encoding;
}

async function measure({ refuse, encoding }: Subject, rightBytes: number, count: number) {
  const measurements: Measurement[] = [];
  let round: ReturnType<typeof forgeRound> = [];
  for (let index = -WARM_UP; index < count; index += 1) {
    // Made anew all the time: where one lies in memory, and what its bytes are, must not be a
    // difference of the classes.
    if (index % ROUND === 0 || round.length === 0) round = forgeRound(rightBytes, encoding);
    const { isNear, request } = round[randomInt(ROUND)] as (typeof round)[number];
    const startedAt = process.hrtime.bigint();
    for (let call = 0; call < BATCH; call += 1) {
      const refused = refuse(request);
      const error = refused instanceof Promise ? await refused : refused;
      if (!(error instanceof Error)) throw new Error('a forged signature was accepted');
    }
    const duration = Number(process.hrtime.bigint() - startedAt) / BATCH;
    if (index >= 0) measurements.push({ isNear, duration });
  }
  return measurements;
}

const count = Number(process.argv[2] ?? 200_000);
const encodings: readonly Encoding[] = ['hex', 'base64', 'base64url'];
const subjects: readonly Subject[] = [
  ...encodings.map((encoding) => ({ name: 'node' as const, refuse: refuseByNode, encoding })),
  { name: 'web', refuse: refuseByWeb, encoding: 'hex' },
  { name: 'control', refuse: refuseEarly, encoding: 'hex' },
];
console.log(
  `Node ${process.version}, OpenSSL ${process.versions.openssl}, ${count} × ${BATCH} calls`,
);
let isControlFound = false;
for (const subject of subjects) {
  const { name, encoding } = subject;
  for (const rightBytes of RIGHT_BYTES) {
    const calls = name === 'web' ? count / 4 : count;
    const { t, percentile } = largestT(await measure(subject, rightBytes, calls));
    const depends = Math.abs(t) >= THRESHOLD;
    const found = depends ? 'DEPENDS' : 'no dependence found';
    console.log(
      `${name}, ${encoding}, ${rightBytes} right: t ${t.toFixed(2)}, below ${percentile}: ${found}`,
    );
    if (name !== 'control' && depends) process.exitCode = 1;
    isControlFound ||= name === 'control' && rightBytes === 31 && depends;
  }
}
if (!isControlFound) {
  console.log('The control, which stops at the first difference, was NOT found out: measure more.');
  process.exitCode = 1;
}
