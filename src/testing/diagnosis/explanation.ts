import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BodyReading, BodyReadings } from './body-readings.js';
import type { ClaimedDigest } from './claimed-digests.js';
import type { CallbackFinding, Reading } from './diagnosis.js';
import type { KeyReading } from './secret-readings.js';
import type { DigestAlgorithm } from './signature-findings.js';
import type { SignedStringReading } from './signed-strings.js';

/** All ways to read the four parts of a signature. */
export interface Readings {
  readonly keys: readonly KeyReading[];
  readonly strings: readonly SignedStringReading[];
  readonly bodies: BodyReadings;
  readonly claims: readonly ClaimedDigest[];
}

/** The readings under which the signature is right. */
export interface Explanation {
  readonly secretIndex: number;
  readonly body: Uint8Array;
  /** What is different from what was given: of the secret, the header, the signed string, the body. */
  readonly findings: readonly CallbackFinding[];
}

/** What {@link findExplanation} comes to. */
export interface Search {
  /** Nothing when no reading makes the signature right, or none within the limits. */
  readonly explanation: Explanation | undefined;
  /** How many HMACs it took. */
  readonly hmacs: number;
}

/**
 * The most HMACs that one diagnosis computes, about 0.1 s of work. All pairs of one difference fit
 * in it, and of a callback of usual size nearly all triples.
 */
const MAX_HMACS = 10_000;
/** The most bytes that go into them: of the body, of what stands around it, and of the key. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

interface Candidate {
  readonly key: KeyReading;
  readonly string: SignedStringReading;
  readonly body: BodyReading;
}

/**
 * Looks for readings that make the signature right, the ones with the fewest differences first. The
 * readings as given are always tried, as the verifier tries them; the others until the next HMAC
 * would go beyond a limit.
 */
export function findExplanation(readings: Readings): Search {
  const { claims } = readings;
  const algorithms = [...new Set(claims.map(({ algorithm }) => algorithm))];
  let hmacs = 0;
  let hashedBytes = 0;
  if (algorithms.length === 0) return { explanation: undefined, hmacs };
  for (const candidate of listCandidates(readings)) {
    const bytes = countBytes(candidate);
    for (const algorithm of algorithms) {
      const isSpent = hmacs >= MAX_HMACS || hashedBytes + bytes > MAX_HASHED_BYTES;
      if (isSpent && !isAsGiven(candidate)) return { explanation: undefined, hmacs };
      hmacs += 1;
      hashedBytes += bytes;
      const digest = computeDigest(candidate, algorithm);
      const claim = claims.find((one) => isSame(one, algorithm, digest));
      if (claim !== undefined) return { explanation: explain(candidate, claim), hmacs };
    }
  }
  return { explanation: undefined, hmacs };
}

function countBytes({ key, string, body }: Candidate): number {
  return (key.key.symmetricKeySize ?? 0) + string.byteLength + body.bytes.byteLength;
}

function isAsGiven({ key, string, body }: Candidate): boolean {
  return key.weight + string.weight + body.weight === 0;
}

function* listCandidates({ keys, strings, bodies }: Readings): Generator<Candidate> {
  const keysOf = groupByWeight(keys);
  const stringsOf = groupByWeight(strings);
  const heaviest = keysOf.length - 1 + stringsOf.length - 1 + bodies.heaviest;
  for (const { key, string, body } of splitWeights(heaviest)) {
    yield* combine({
      keys: keysOf[key] ?? [],
      strings: stringsOf[string] ?? [],
      bodies: bodies.ofWeight(body),
    });
  }
}

interface OfOneWeight {
  readonly keys: readonly KeyReading[];
  readonly strings: readonly SignedStringReading[];
  readonly bodies: readonly BodyReading[];
}

function* combine({ keys, strings, bodies }: OfOneWeight): Generator<Candidate> {
  for (const body of bodies) {
    for (const string of strings) {
      for (const key of keys) yield { key, string, body };
    }
  }
}

function groupByWeight<Kind extends Reading>(readings: readonly Kind[]): readonly Kind[][] {
  const groups: Kind[][] = [];
  for (const reading of readings) {
    while (groups.length <= reading.weight) groups.push([]);
    groups[reading.weight]?.push(reading);
  }
  return groups;
}

interface Weights {
  readonly key: number;
  readonly string: number;
  readonly body: number;
}

/** All ways to share 0 differences between the three, then 1, then 2. */
function* splitWeights(heaviest: number): Generator<Weights> {
  for (let total = 0; total <= heaviest; total += 1) {
    for (let key = 0; key <= total; key += 1) {
      for (let string = 0; string <= total - key; string += 1) {
        yield { key, string, body: total - key - string };
      }
    }
  }
}

function computeDigest({ key, string, body }: Candidate, algorithm: DigestAlgorithm): Buffer {
  return createHmac(algorithm, key.key)
    .update(string.before)
    .update(body.bytes)
    .update(string.after)
    .digest();
}

function isSame(claim: ClaimedDigest, algorithm: DigestAlgorithm, digest: Buffer): boolean {
  return claim.algorithm === algorithm && timingSafeEqual(claim.digest, digest);
}

function explain({ key, string, body }: Candidate, claim: ClaimedDigest): Explanation {
  return {
    secretIndex: key.secretIndex,
    body: body.bytes,
    findings: [...key.findings, ...claim.findings, ...string.findings, ...body.findings],
  };
}
