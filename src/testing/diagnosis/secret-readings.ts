import { createSecretKey, KeyObject } from 'node:crypto';
import type { SigningSecret } from '../../callback/verify.js';
import type { CallbackFinding, Reading } from './diagnosis.js';
import {
  assignment,
  binaryString,
  decoded,
  edgeSpace,
  edgeSpaceIsKey,
  escapedNewlineAdded,
  escapedNewlineKept,
  hexCase,
  type LetterCase,
  notDecoded,
  prefixedBytes,
  prefixedText,
  quoted,
  type SecretEncoding,
  urlEncoded,
} from './secret-findings.js';

/** A key that could have signed. */
export interface KeyReading extends Reading {
  readonly key: KeyObject;
  readonly secretIndex: number;
}

interface TextReading {
  readonly text: string;
  readonly findings: readonly CallbackFinding[];
}

interface BytesReading {
  readonly bytes: Uint8Array;
  readonly findings: readonly CallbackFinding[];
}

// A longer one is no secret that somebody pasted.
const MAX_SECRET_BYTES = 4096;
// While rotating there are two or three; every one that is read in other ways multiplies the work.
const MAX_SECRETS_READ = 8;

/** The keys that the given secrets could have meant, as given first. */
export function listKeyReadings(secrets: readonly SigningSecret[]): readonly KeyReading[] {
  const seen = new Set<string>();
  const readings: KeyReading[] = [];
  secrets.forEach((secret, secretIndex) => {
    const given = readAsGiven(secret);
    const others = secretIndex < MAX_SECRETS_READ ? listOtherReadings(secret, given.bytes) : [];
    for (const { bytes, findings } of [given, ...others]) {
      if (bytes.byteLength === 0) continue;
      const identity = `${findings.length === 0 ? secretIndex : ''} ${Buffer.from(bytes).toString('latin1')}`;
      if (seen.has(identity)) continue;
      seen.add(identity);
      readings.push({
        key: createSecretKey(bytes),
        secretIndex,
        findings,
        weight: findings.length,
      });
    }
  });
  return readings.sort((left, right) => left.weight - right.weight);
}

function readAsGiven(secret: SigningSecret): BytesReading {
  if (typeof secret !== 'string') return { bytes: bytesOf(secret), findings: [] };
  // verifyCallback refuses such text, so it is not what was given to it.
  const findings = hasEdgeSpace(secret) ? [edgeSpaceIsKey] : [];
  return { bytes: Buffer.from(secret), findings };
}

/** Text that `verifyCallback` refuses as an option. */
export function hasEdgeSpace(secret: SigningSecret): secret is string {
  return typeof secret === 'string' && secret.trim() !== secret;
}

function bytesOf(secret: Uint8Array | KeyObject): Uint8Array {
  return secret instanceof KeyObject ? secret.export() : secret;
}

function listOtherReadings(secret: SigningSecret, given: Uint8Array): readonly BytesReading[] {
  if (given.byteLength > MAX_SECRET_BYTES) return [];
  const text = typeof secret === 'string' ? secret : decodeUtf8(given);
  const written = text === undefined ? [] : listTexts(text).flatMap(readText);
  return [...written, ...listEncoded({ bytes: given, findings: [] })]
    .filter(({ findings }) => findings.length > 0)
    .sort((left, right) => left.findings.length - right.findings.length);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const MAX_TEXT_CHANGES = 3;

/** The text as given and what is left of it without what was put around it or escaped in it. */
function listTexts(text: string): readonly TextReading[] {
  const readings: TextReading[] = [{ text, findings: [] }];
  // Grows while it is walked.
  for (const reading of readings) {
    if (reading.findings.length >= MAX_TEXT_CHANGES) continue;
    for (const [changed, finding] of changeText(reading.text)) {
      if (changed === '' || readings.some((earlier) => earlier.text === changed)) continue;
      readings.push({ text: changed, findings: [...reading.findings, finding] });
    }
  }
  return readings;
}

// The value has to hold a letter or a digit: base64 ends with equals signs, and a key of
// punctuation alone anybody could guess.
const ASSIGNMENT = /^(?:export\s+)?[A-Za-z_]\w*\s*=(?=.*[A-Za-z0-9])(.*)$/s;

function decodeUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function changeText(text: string): readonly (readonly [string, CallbackFinding])[] {
  return [
    [text.trim(), edgeSpace],
    [text.replace(/^(["'`])(.*)\1$/s, '$2'), quoted],
    [text.replace(ASSIGNMENT, '$1'), assignment],
    [decodeUrl(text), urlEncoded],
    [text.replace(/(?:\\r)?\\n$/, ''), escapedNewlineAdded],
    [text.replaceAll('\\n', '\n'), escapedNewlineKept],
  ];
}

function readText({ text, findings }: TextReading): readonly BytesReading[] {
  const bytes = Buffer.from(text);
  return [
    { bytes, findings },
    ...decodeText(text).map(([key, encoding]) => ({
      bytes: key,
      findings: [...findings, notDecoded(encoding)],
    })),
    ...listHexCases({ text, findings }),
    ...listUnprefixed({ text, findings }),
    ...listEncoded({ bytes, findings }),
    ...readBinaryString({ text, findings }),
  ];
}

const HEX = /^(?:[\da-f]{2})+$/i;

function listHexCases({ text, findings }: TextReading): readonly BytesReading[] {
  if (!HEX.test(text)) return [];
  const cases: readonly (readonly [string, LetterCase])[] = [
    [text.toLowerCase(), 'lower'],
    [text.toUpperCase(), 'upper'],
  ];
  return cases
    .filter(([written]) => written !== text)
    .map(([written, letters]) => ({
      bytes: Buffer.from(written),
      findings: [...findings, hexCase(letters)],
    }));
}

function decodeText(text: string): readonly (readonly [Uint8Array, SecretEncoding])[] {
  const bare = text.replace(/={1,2}$/, '');
  const keys: [Uint8Array, SecretEncoding][] = [];
  if (HEX.test(text)) keys.push([Buffer.from(text, 'hex'), 'hex']);
  if (/^[A-Za-z0-9+/]{4,}$/.test(bare)) keys.push([Buffer.from(bare, 'base64'), 'base64']);
  else if (/^[\w-]{4,}$/.test(bare)) keys.push([Buffer.from(bare, 'base64url'), 'base64url']);
  return keys;
}

// whsec_…, sk_test_…: up to the second mark.
const MAX_PREFIXES = 2;

function listUnprefixed({ text, findings }: TextReading): readonly BytesReading[] {
  const marks = [...text.slice(0, 24).matchAll(/[_:.-]/g)].slice(0, MAX_PREFIXES);
  return marks.flatMap(({ index }) => {
    const rest = text.slice(index + 1);
    return [
      ...decodeText(rest).map(([bytes, encoding]) => ({
        bytes,
        findings: [...findings, prefixedBytes(encoding)],
      })),
      { bytes: Buffer.from(rest), findings: [...findings, prefixedText] },
    ];
  });
}

function listEncoded({ bytes, findings }: BytesReading): readonly BytesReading[] {
  const content = Buffer.from(bytes);
  const base64 = content.toString('base64');
  const hex = content.toString('hex');
  const texts: readonly (readonly [string, SecretEncoding])[] = [
    [base64, 'base64'],
    [base64.replace(/=+$/, ''), 'base64'],
    [content.toString('base64url'), 'base64url'],
    [hex, 'hex'],
    [hex.toUpperCase(), 'hex'],
  ];
  return texts.map(([text, encoding]) => ({
    bytes: Buffer.from(text),
    findings: [...findings, decoded(encoding)],
  }));
}

function readBinaryString({ text, findings }: TextReading): readonly BytesReading[] {
  if (!/^[\0-\xff]*[\x80-\xff][\0-\xff]*$/.test(text)) return [];
  const bytes = Buffer.from(text, 'latin1');
  const before = [...findings, binaryString];
  return [{ bytes, findings: before }, ...listEncoded({ bytes, findings: before })];
}
