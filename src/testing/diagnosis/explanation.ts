import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BodyReading } from './body.js';
import type { CallbackFinding } from './diagnosis.js';
import type { KeyReading } from './secret.js';

/** The parts of a signature, each with the ways to read it. */
export interface SignedParts {
  readonly digest: Buffer;
  readonly timestamp: string;
  readonly keys: readonly KeyReading[];
  readonly bodies: readonly BodyReading[];
}

/** The readings under which the signature matches. */
export interface Explanation {
  readonly secretIndex: number;
  readonly body: Uint8Array;
  /** What is different from what was given. */
  readonly findings: readonly CallbackFinding[];
}

export interface Search {
  /** Absent when no reading makes the signature match, or none within the limits. */
  readonly explanation?: Explanation;
  /** Without an explanation: what was tried, for a finding. */
  readonly tried?: readonly string[];
}

/** The most HMACs that one diagnosis computes, about 0.1 s of work. */
const MAX_HMACS = 10_000;
/** The most bytes that go into them: of the key, the timestamp and the body. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/**
 * Looks for readings that make the signature match, those with the fewest differences first. The
 * parts as given are always tried, as the verifier tries them; the others until the next HMAC would
 * go beyond a limit.
 */
export function findExplanation({ digest, timestamp, keys, bodies }: SignedParts): Search {
  const prefix = Buffer.from(`${timestamp}.`);
  const candidates = bodies
    .flatMap((body) =>
      keys.map((key) => ({ key, body, findings: [...key.findings, ...body.findings] })),
    )
    .sort((left, right) => left.findings.length - right.findings.length);
  let hmacs = 0;
  let hashedBytes = 0;
  for (const { key, body, findings } of candidates) {
    const bytes = (key.key.symmetricKeySize ?? 0) + prefix.byteLength + body.bytes.byteLength;
    const isSpent = hmacs >= MAX_HMACS || hashedBytes + bytes > MAX_HASHED_BYTES;
    if (isSpent && findings.length > 0) break;
    hmacs += 1;
    hashedBytes += bytes;
    const computed = createHmac('sha256', key.key).update(prefix).update(body.bytes).digest();
    if (timingSafeEqual(computed, digest)) {
      return { explanation: { secretIndex: key.secretIndex, body: body.bytes, findings } };
    }
  }
  const tried = [
    `${keys.length} readings of the signing secret: without white space or quotes, decoded from hex or base64, encoded in them`,
    `${bodies.length} readings of the body: without or with a newline at its end, decoded from base64, JSON as other programs write it`,
    `${hmacs} HMACs of a secret and a body, those with the fewest differences first`,
  ];
  return { tried: Object.freeze(tried) };
}
