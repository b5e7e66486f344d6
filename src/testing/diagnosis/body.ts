import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { assertRawBody } from '../../callback/body.js';
import { HOW_TO_GET_THE_BYTES } from '../../callback/refusals.js';
import { CallbackVerificationError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { statusRecordFields } from '../../protocol/payment.js';
import type { CallbackFinding } from './diagnosis.js';

const remedies = {
  'body-not-raw': `Pass the bytes as received. ${HOW_TO_GET_THE_BYTES}.`,
  'body-empty': `${HOW_TO_GET_THE_BYTES}.`,
  'body-base64':
    "Decode it first: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') on AWS Lambda.",
  'body-compressed': 'Exempt this path from what compresses bodies after signing, such as a proxy.',
  'body-utf16':
    'Pass the bytes as received: find what writes the body in another encoding (an editor, PowerShell, a text column), and keep it as bytes.',
  'body-reserialized': `Pass the bytes as received, not JSON that was parsed and serialized again. ${HOW_TO_GET_THE_BYTES}.`,
  'body-trailing-newline':
    'Pass the bytes as received: find what reads, logs or stores the body on its way (an editor, a shell, a text column), and keep it as bytes.',
};

const finding = (code: keyof typeof remedies, message: string): CallbackFinding => ({
  code,
  message,
  remedy: remedies[code],
});

/** When nothing explains the signature of a request that has a content-encoding. */
export const unknownCompression = (encoding: string): CallbackFinding => ({
  code: 'body-compressed',
  message: `The request has content-encoding ${encoding}, and the signature matches neither the body as given nor the inflated one.`,
  remedy: 'Capture the bytes as they come over the wire, before a framework inflates them.',
});

/** The body, as bytes that can be hashed. */
export interface CapturedBody {
  readonly bytes: Buffer;
  /** What was given in place of the bytes as received: `a parsed object`. Absent for bytes. */
  readonly lostAs?: string;
  /** What looks wrong with it; reported when nothing explains the signature. */
  readonly faults: readonly CallbackFinding[];
}

export function captureBody(rawBody: unknown): CapturedBody {
  try {
    const body = assertRawBody(rawBody);
    const bytes = Buffer.from(body);
    return { bytes, faults: listFaults(bytes) };
  } catch (error) {
    if (!(error instanceof CallbackVerificationError)) throw error;
  }
  const lostAs = describeLost(rawBody);
  const message = `The body is ${lostAs}, not the bytes as received, which cannot be restored from it.`;
  return {
    bytes: Buffer.from(writeObject(rawBody)),
    lostAs,
    faults: [finding('body-not-raw', message)],
  };
}

function listFaults(bytes: Buffer): readonly CallbackFinding[] {
  if (bytes.byteLength === 0) {
    const why = 'most often because something else has already read the request';
    return [finding('body-empty', `The body is empty, ${why}.`)];
  }
  if (bytes.equals(Buffer.from('[object Object]'))) {
    const why = 'a parsed object was turned into a string';
    return [finding('body-not-raw', `The body is the text "[object Object]": ${why}.`)];
  }
  if (!bytes.includes('\ufffd')) return [];
  const why = 'some of its bytes were lost when it was decoded as text';
  return [finding('body-not-raw', `The body holds replacement characters (U+FFFD): ${why}.`)];
}

function describeLost(value: unknown): string {
  if (typeof value === 'object' && value !== null) return 'a parsed object';
  return typeof value === 'string' ? 'a string that holds a lone surrogate' : describeValue(value);
}

/** Returns an empty text for anything that JSON can't represent: a cycle, a BigInt, anything but an object. */
function writeObject(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? '') : '';
  } catch {
    return '';
  }
}

/** Bytes that may have been signed. */
export interface BodyReading {
  readonly bytes: Buffer;
  /** How they differ from the body as given. */
  readonly findings: readonly CallbackFinding[];
}

// A larger body is used only as given: the cost of each form grows with the length.
const MAX_REWRITTEN_BYTES = 256 * 1024;

/** Returns the body as given, and the forms that it may have had when it was signed. */
export function listBodyReadings({ bytes, lostAs }: CapturedBody): readonly BodyReading[] {
  const others =
    bytes.byteLength > MAX_REWRITTEN_BYTES
      ? []
      : [
          ...changeNewline(bytes),
          ...decodeBase64(bytes),
          ...inflate(bytes),
          ...changeUtf16(bytes),
          ...writeAgain(bytes),
        ];
  const readings = [{ bytes, findings: [] }, ...others];
  if (lostAs === undefined) return readings;
  // When the bytes are lost, it does not help to know how the JSON was written.
  const message = `The body is ${lostAs}, not the bytes as received. The signature matches these contents: only the bytes were lost.`;
  return readings.map((reading) => ({ ...reading, findings: [finding('body-not-raw', message)] }));
}

function changeNewline(content: Buffer): readonly BodyReading[] {
  const reading = (bytes: Buffer, change: string): BodyReading => ({
    bytes,
    findings: [finding('body-trailing-newline', `${change} the end of the body after signing.`)],
  });
  if (content.at(-1) === 0x0a) {
    const bytes = content.subarray(0, content.at(-2) === 0x0d ? -2 : -1);
    return [reading(bytes, 'A newline was added to')];
  }
  return [
    reading(Buffer.concat([content, Buffer.from('\n')]), 'A newline (LF) was removed from'),
    reading(Buffer.concat([content, Buffer.from('\r\n')]), 'A newline (CR LF) was removed from'),
  ];
}

function decodeBase64(content: Buffer): readonly BodyReading[] {
  const text = content.toString('latin1').replace(/[\r\n]/g, '');
  if (!/^[\w+/-]{4,}={0,2}$/.test(text)) return [];
  const message = 'The body is base64, but the signature is that of the decoded bytes.';
  return [{ bytes: Buffer.from(text, 'base64'), findings: [finding('body-base64', message)] }];
}

const inflaters = [
  ['gzip', gunzipSync],
  ['deflate', inflateSync],
  ['deflate, raw', inflateRawSync],
  ['br', brotliDecompressSync],
] as const;

function inflate(content: Buffer): readonly BodyReading[] {
  return inflaters.flatMap(([encoding, inflateBy]) => {
    const message = `The body is compressed (${encoding}), but the signature is that of the inflated bytes.`;
    try {
      const bytes = inflateBy(content, { maxOutputLength: MAX_REWRITTEN_BYTES });
      return [{ bytes, findings: [finding('body-compressed', message)] }];
    } catch {
      return [];
    }
  });
}

/** Reads the body as UTF-16, and writes it so, in either order of bytes, without and with a byte order mark. */
function changeUtf16(content: Buffer): readonly BodyReading[] {
  const reading = (bytes: Buffer, given: string, signed: string): BodyReading => ({
    bytes,
    findings: [
      finding('body-utf16', `The body is ${given}, but the signature is that of ${signed}.`),
    ],
  });
  const inBothOrders = (bytes: Buffer) => [bytes, Buffer.from(bytes).swap16()];
  const written = ['', '\ufeff']
    .flatMap((mark) => inBothOrders(Buffer.from(mark + content, 'utf16le')))
    .map((bytes) => reading(bytes, 'UTF-8', 'UTF-16'));
  if (content.byteLength % 2 === 1) return written;
  const read = inBothOrders(content)
    .map((bytes) => Buffer.from(bytes.toString('utf16le').replace(/^\ufeff/, '')))
    .map((bytes) => reading(bytes, 'UTF-16', 'UTF-8'));
  return [...read, ...written];
}

function writeAgain(content: Buffer): readonly BodyReading[] {
  const text = content.toString();
  const writers = serializeByAll(text);
  // Editors and jq add a newline at the end.
  const given = writers.get(text.trim());
  writers.delete(text);
  return [...writers].map(([json, signed]) => {
    const was =
      given === undefined || given === signed ? '' : `the body is as ${given} writes it, but `;
    const message = `The JSON was serialized again after signing: ${was}the signature is that of JSON as ${signed} writes it.`;
    return { bytes: Buffer.from(json), findings: [finding('body-reserialized', message)] };
  });
}

const compact = (value: unknown): string => JSON.stringify(value);
// JSON strings have no raw line breaks, so each one is indentation.
const spaced = (value: unknown): string =>
  JSON.stringify(value, null, 1).replaceAll(/,\n */g, ', ').replaceAll(/\n */g, '');
const escapeSlashes = (json: string): string => json.replaceAll('/', '\\/');
const escapeUnicode = (json: string): string =>
  json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** What serializes bodies again in practice. If two write the same text, the first is named. */
const jsonWriters: readonly (readonly [name: string, write: (value: unknown) => string])[] = [
  ['JSON.stringify', compact],
  ['JSON.stringify(value, null, 2)', (value) => JSON.stringify(value, null, 2)],
  ['JSON.stringify(value, null, 4)', (value) => JSON.stringify(value, null, 4)],
  ["Python's json.dumps", (value) => escapeUnicode(spaced(value))],
  ["Python's json.dumps with ensure_ascii=False", spaced],
  ["PHP's json_encode", (value) => escapeSlashes(escapeUnicode(compact(value)))],
  ["PHP's json_encode with JSON_UNESCAPED_UNICODE", (value) => escapeSlashes(compact(value))],
  ["PHP's json_encode with JSON_UNESCAPED_SLASHES", (value) => escapeUnicode(compact(value))],
  ['a program that sorts the keys', (value) => compact(sortKeys(value, byName))],
  [
    "a program that keeps the interface's order of keys",
    (value) => compact(sortKeys(value, byRank)),
  ],
];

// A status record has one level. Indented, thousands of levels would exhaust the memory.
const MAX_DEPTH = 16;
/** Marks a sorted key: objects put numeric keys first. */
const KEY_MARK = '\0key ';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((deepest, item) => Math.max(deepest, 1 + depthOf(item)), 1)
    : 0;

/** Returns JSON as each program writes it, with the program's name; empty if the text is not JSON. */
export function serializeByAll(text: string): Map<string, string> {
  const written = new Map<string, string>();
  try {
    const value: unknown = JSON.parse(text);
    if (depthOf(value) > MAX_DEPTH) return written;
    for (const [name, write] of jsonWriters) {
      const json = write(value).replaceAll('"\\u0000key ', '"');
      if (!written.has(json)) written.set(json, name);
    }
  } catch {
    // Not JSON, or so deep that the stack overflows.
  }
  return written;
}

type CompareKeys = (left: string, right: string) => number;

function sortKeys(value: unknown, compare: CompareKeys): unknown {
  if (Array.isArray(value)) return value.map((item) => sortKeys(item, compare));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([left], [right]) => compare(left, right));
  return Object.fromEntries(
    members.map(([key, item]) => [KEY_MARK + key, sortKeys(item, compare)]),
  );
}

function byName(left: string, right: string): number {
  return Number(left > right) - Number(left < right);
}

// Fields that the interface does not name come last, in the order received.
function byRank(left: string, right: string): number {
  const names: readonly string[] = statusRecordFields;
  const rank = (name: string) => (names.includes(name) ? names.indexOf(name) : names.length);
  return rank(left) - rank(right);
}
