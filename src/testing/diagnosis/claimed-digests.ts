import { parseSignatureFormat } from '../../callback/signature.js';
import type { SignatureEncoding } from '../../protocol/wire.js';
import type { CapturedHeader } from './captured-headers.js';
import type { CallbackFinding, Reading } from './diagnosis.js';
import {
  base64OfHexFinding,
  type DigestAlgorithm,
  edgeSpaceFinding,
  encodingFinding,
  missingButFound,
  otherAlgorithmFinding,
  prefixedFinding,
  quotedFinding,
  repeatedFinding,
} from './signature-findings.js';

/** A digest that X-Signature can be read as. */
export interface ClaimedDigest extends Reading {
  readonly digest: Buffer;
  readonly algorithm: DigestAlgorithm;
}

const ALGORITHMS: ReadonlyMap<number, DigestAlgorithm> = new Map([
  [20, 'sha1'],
  [32, 'sha256'],
  [48, 'sha384'],
  [64, 'sha512'],
]);

// More than any signature takes; what is longer is not looked at.
const MAX_TEXT = 1024;
const MAX_CLAIMS = 8;

/** Every digest that came. Nothing when there is none in any encoding known here. */
export function readClaimedDigests(
  { values, isRepeated, similar }: CapturedHeader,
  allowed: SignatureEncoding | 'auto',
): readonly ClaimedDigest[] {
  const repeated = isRepeated ? [repeatedFinding] : [];
  const claims = values.flatMap((value) => readValue(value, allowed, repeated));
  const renamed = similar.flatMap(({ name, value }) =>
    readValue(value, allowed, [missingButFound(name)]),
  );
  return [...claims, ...renamed]
    .sort((left, right) => left.weight - right.weight)
    .slice(0, MAX_CLAIMS);
}

function readValue(
  value: string,
  allowed: SignatureEncoding | 'auto',
  before: readonly CallbackFinding[],
): readonly ClaimedDigest[] {
  if (value.length > MAX_TEXT) return [];
  const trimmed = value.trim();
  const bare = trimmed.replace(/^(["'])(.*)\1$/s, '$2');
  const findings = [
    ...before,
    ...(trimmed === value ? [] : [edgeSpaceFinding]),
    ...(bare === trimmed ? [] : [quotedFinding]),
  ];
  const whole = readDigest(bare, allowed, findings);
  return whole === undefined ? readParts(bare, allowed, findings) : [whole];
}

/** `sha256=…`, `v1,…`, `t=…,v1=…`, and two values that a proxy joined with a comma. */
function readParts(
  text: string,
  allowed: SignatureEncoding | 'auto',
  before: readonly CallbackFinding[],
): readonly ClaimedDigest[] {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '');
  const bare = parts.map((part) => part.replace(/^[\w-]{1,24}[=:]/, ''));
  const areDigests = parts.every((part) => readDigest(part, allowed, []) !== undefined);
  const finding = areDigests ? repeatedFinding : prefixedFinding;
  return bare.flatMap((part, index) => {
    // The padding of base64 looks like the end of a prefix.
    const whole = readDigest(parts[index] as string, allowed, [...before, finding]);
    return whole ?? readDigest(part, allowed, [...before, finding]) ?? [];
  });
}

function readDigest(
  text: string,
  allowed: SignatureEncoding | 'auto',
  before: readonly CallbackFinding[],
): ClaimedDigest | undefined {
  const decoded = decodeDigest(text);
  if (decoded === undefined) return undefined;
  const { bytes, encoding, isHexText } = decoded;
  const algorithm = ALGORITHMS.get(bytes.byteLength);
  if (algorithm === undefined) return undefined;
  const findings = [...before];
  if (isHexText) findings.push(base64OfHexFinding);
  else if (algorithm === 'sha256' && !isAccepted(text, allowed)) {
    findings.push(encodingFinding(encoding, allowed));
  }
  if (algorithm !== 'sha256') findings.push(otherAlgorithmFinding(algorithm, bytes.byteLength));
  return { digest: bytes, algorithm, findings, weight: findings.length };
}

interface DecodedDigest {
  readonly bytes: Buffer;
  readonly encoding: SignatureEncoding;
  readonly isHexText: boolean;
}

function decodeDigest(text: string): DecodedDigest | undefined {
  if (isHex(text)) return { bytes: Buffer.from(text, 'hex'), encoding: 'hex', isHexText: false };
  const bytes = decodeBase64(text);
  if (bytes === undefined) return undefined;
  const encoding = /[-_]/.test(text) ? 'base64url' : 'base64';
  const inner = bytes.toString('latin1');
  return ALGORITHMS.has(inner.length / 2) && isHex(inner)
    ? { bytes: Buffer.from(inner, 'hex'), encoding, isHexText: true }
    : { bytes, encoding, isHexText: false };
}

function isHex(text: string): boolean {
  return /^(?:[\da-f]{2})+$/i.test(text);
}

/** Strict: the decoder passes over what it does not know and ignores spare bits. */
function decodeBase64(text: string): Buffer | undefined {
  const bare = text.replace(/={1,2}$/, '');
  if (!/^(?:[A-Za-z0-9+/]+|[\w-]+)$/.test(bare)) return undefined;
  const bytes = Buffer.from(bare, 'base64');
  const plain = bare.replaceAll('+', '-').replaceAll('/', '_');
  return bytes.toString('base64url') === plain ? bytes : undefined;
}

function isAccepted(text: string, allowed: SignatureEncoding | 'auto'): boolean {
  try {
    parseSignatureFormat(text, allowed);
    return true;
  } catch {
    return false;
  }
}
