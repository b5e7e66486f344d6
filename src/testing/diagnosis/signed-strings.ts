import type { CapturedHeader } from './captured-headers.js';
import type { CallbackFinding, Reading } from './diagnosis.js';
import { missingButFound, repeatedFinding, respelledFinding } from './timestamp-findings.js';
import { readInstant } from './timestamp-text.js';

/** A way to join timestamp and body to the string that is signed. */
export interface SignedStringReading extends Reading {
  /** What stands before the body. */
  readonly before: string;
  /** What stands after it. */
  readonly after: string;
  /** What the two add to the bytes that are hashed. */
  readonly byteLength: number;
}

interface TimestampReading extends Reading {
  readonly text: string;
}

const SIGN_AS_THE_INTERFACE_SAYS =
  'In the sender sign the value of X-Timestamp, a full stop and the body (interface section 5.2), as signCallback does.';

const bodyOnly: CallbackFinding = Object.freeze({
  code: 'signed-body-only',
  message: 'Signed was the body alone, without the timestamp.',
  remedy: SIGN_AS_THE_INTERFACE_SAYS,
});

const withoutStop: CallbackFinding = Object.freeze({
  code: 'signed-without-stop',
  message: 'Signed were timestamp and body without the full stop between them.',
  remedy: SIGN_AS_THE_INTERFACE_SAYS,
});

function otherSeparator(separator: string): CallbackFinding {
  return Object.freeze({
    code: 'signed-other-separator',
    message: `Signed were timestamp and body with ${JSON.stringify(separator)} between them instead of a full stop.`,
    remedy: SIGN_AS_THE_INTERFACE_SAYS,
  });
}

const bodyFirst: CallbackFinding = Object.freeze({
  code: 'signed-body-first',
  message: 'Signed was the body before the timestamp instead of behind it.',
  remedy: SIGN_AS_THE_INTERFACE_SAYS,
});

const OTHER_SEPARATORS = [':', ',', '|', ';', '-', '_', '/', '&', '\n', ' '] as const;

/** The strings that could have been signed, as the interface says first. */
export function listSignedStrings(timestamp: CapturedHeader): readonly SignedStringReading[] {
  const strings = listTimestamps(timestamp).flatMap(joinWithBody);
  strings.push({ before: '', after: '', byteLength: 0, findings: [bodyOnly], weight: 1 });
  return strings.sort((left, right) => left.weight - right.weight);
}

// A longer one is no timestamp in any spelling, and every way to join it costs as much as it is long.
const MAX_JOINED_BYTES = 1024;

function joinWithBody({ text, findings }: TimestampReading): SignedStringReading[] {
  const join = (before: string, after: string, ...more: readonly CallbackFinding[]) => ({
    before,
    after,
    byteLength: Buffer.byteLength(before) + Buffer.byteLength(after),
    findings: [...findings, ...more],
    weight: findings.length + more.length,
  });
  const asTheInterfaceSays = join(`${text}.`, '');
  if (Buffer.byteLength(text) > MAX_JOINED_BYTES) return [asTheInterfaceSays];
  return [
    asTheInterfaceSays,
    join(text, '', withoutStop),
    ...OTHER_SEPARATORS.map((separator) => join(text + separator, '', otherSeparator(separator))),
    join('', `.${text}`, bodyFirst),
    join('', text, bodyFirst, withoutStop),
  ];
}

// Longer text is neither a number nor a date.
const MAX_TEXT = 128;

function listTimestamps({
  values,
  isRepeated,
  similar,
}: CapturedHeader): readonly TimestampReading[] {
  const repeated = isRepeated ? [repeatedFinding] : [];
  const given = values.flatMap((value) => readTimestamp(value, repeated));
  const renamed = similar.flatMap(({ name, value }) =>
    readTimestamp(value, [missingButFound(name)]),
  );
  return [...given, ...renamed];
}

function readTimestamp(
  value: string,
  before: readonly CallbackFinding[],
): readonly TimestampReading[] {
  const asGiven: TimestampReading = { text: value, findings: before, weight: before.length };
  if (value.length > MAX_TEXT) return [asGiven];
  // Node and Fetch join the values of a header that came twice with a comma.
  const parts = value.split(',').map((part) => part.trim());
  const texts = new Set(parts.length > 1 ? parts : respell(value));
  texts.delete(value);
  const findings = [...before, parts.length > 1 ? repeatedFinding : respelledFinding];
  return [asGiven, ...[...texts].map((text) => ({ text, findings, weight: findings.length }))];
}

function respell(value: string): readonly string[] {
  const text = value.trim().replace(/^(["'])(.*)\1$/, '$2');
  const instant = readInstant(text);
  if (instant === undefined) return [text];
  return [text, String(Math.floor(instant.epochMs / 1000)), String(instant.epochMs)];
}
