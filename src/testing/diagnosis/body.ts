import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { assertRawBody, HOW_TO_GET_THE_BYTES, isUint8Array } from '../../callback/body.js';
import { CallbackVerificationError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { statusRecordFields } from '../../protocol/payment.js';
import type { CallbackFinding } from './diagnosis.js';

const PASS_THE_BYTES = `Pass the bytes as received. ${HOW_TO_GET_THE_BYTES}.`;

const notRaw = (what: string): CallbackFinding => ({
  code: 'body-not-raw',
  message: `The body is ${what}, not the bytes as received, which cannot be restored from it.`,
  remedy: PASS_THE_BYTES,
});

const notRawButSigned = (what: string): CallbackFinding => ({
  code: 'body-not-raw',
  message: `The body is ${what}, not the bytes as received. The signature matches these contents: only the bytes were lost.`,
  remedy: PASS_THE_BYTES,
});

const objectAsText: CallbackFinding = {
  code: 'body-not-raw',
  message: 'The body is the text "[object Object]": a parsed object was turned into a string.',
  remedy: PASS_THE_BYTES,
};

const decodedWithLoss: CallbackFinding = {
  code: 'body-not-raw',
  message:
    'The body holds replacement characters (U+FFFD): some of its bytes were lost when it was decoded as text.',
  remedy: `Pass the bytes as received, joined before anything decodes them. ${HOW_TO_GET_THE_BYTES}.`,
};

const emptyBody: CallbackFinding = {
  code: 'body-empty',
  message: 'The body is empty, most often because something else has already read the request.',
  remedy: `${HOW_TO_GET_THE_BYTES}.`,
};

const base64Body: CallbackFinding = {
  code: 'body-base64',
  message: 'The body is base64, but the signature is that of the decoded bytes.',
  remedy:
    "Decode it first: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') on AWS Lambda.",
};

/** @param how what was done to the body, such as `compressed (gzip)` */
const compressedBody = (how: string): CallbackFinding => ({
  code: 'body-compressed',
  message: `The body is ${how}, but the signature is that of the inflated bytes.`,
  remedy: 'Exempt this path from what compresses bodies after signing, such as a proxy.',
});

/** When nothing explains the signature of a request that has a content-encoding. */
export const unknownCompression = (encoding: string): CallbackFinding => ({
  code: 'body-compressed',
  message: `The request has content-encoding ${encoding}, and the signature matches neither the body as given nor the inflated one.`,
  remedy: 'Capture the bytes as they come over the wire, before a framework inflates them.',
});

const utf16Body = (given: string, signed: string): CallbackFinding => ({
  code: 'body-utf16',
  message: `The body is ${given}, but the signature is that of ${signed}.`,
  remedy:
    'Pass the bytes as received: find what writes the body in another encoding (an editor, PowerShell, a text column), and keep it as bytes.',
});

function reserialized(given: string | undefined, signed: string): CallbackFinding {
  const was =
    given === undefined || given === signed ? '' : `the body is as ${given} writes it, but `;
  return {
    code: 'body-reserialized',
    message: `The JSON was serialized again after signing: ${was}the signature is that of JSON as ${signed} writes it.`,
    remedy: `Pass the bytes as received, not JSON that was parsed and serialized again. ${HOW_TO_GET_THE_BYTES}.`,
  };
}

const trailingNewline = (change: string): CallbackFinding => ({
  code: 'body-trailing-newline',
  message: `${change} the end of the body after signing.`,
  remedy:
    'Pass the bytes as received: find what reads, logs or stores the body on its way (an editor, a shell, a text column), and keep it as bytes.',
});

/** The body, as bytes that can be hashed. */
export interface CapturedBody {
  readonly bytes: Uint8Array;
  /** What was given in place of the bytes as received: `a parsed object`. Absent for bytes. */
  readonly lostAs?: string;
  /** What looks wrong with it; reported when nothing explains the signature. */
  readonly faults: readonly CallbackFinding[];
}

export function captureBody(rawBody: unknown): CapturedBody {
  try {
    const body = assertRawBody(rawBody);
    return captureBytes(typeof body === 'string' ? Buffer.from(body) : body);
  } catch (error) {
    if (!(error instanceof CallbackVerificationError)) throw error;
  }
  const lostAs = describeLost(rawBody);
  return { bytes: Buffer.from(writeObject(rawBody)), lostAs, faults: [notRaw(lostAs)] };
}

function captureBytes(bytes: Uint8Array): CapturedBody {
  const content = asBuffer(bytes);
  const faults: CallbackFinding[] = [];
  if (content.byteLength === 0) faults.push(emptyBody);
  if (content.equals(Buffer.from('[object Object]'))) faults.push(objectAsText);
  if (content.includes('\ufffd')) faults.push(decodedWithLoss);
  return { bytes, faults };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function describeLost(value: unknown): string {
  // Any others were captured.
  if (isUint8Array(value) || value instanceof ArrayBuffer) return 'bytes whose memory was detached';
  if (typeof value === 'object' && value !== null) return 'a parsed object';
  if (typeof value === 'string') return 'a string that holds a lone surrogate';
  return value === undefined ? 'undefined' : describeValue(value);
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
  readonly bytes: Uint8Array;
  /** How they differ from the body as given. */
  readonly findings: readonly CallbackFinding[];
}

// A larger body is used only as given: the cost of each form grows with the length.
const MAX_REWRITTEN_BYTES = 256 * 1024;

/** Returns the body as given, and the forms that it may have had when it was signed. */
export function listBodyReadings({ bytes, lostAs }: CapturedBody): readonly BodyReading[] {
  const content = asBuffer(bytes);
  const given: BodyReading = { bytes, findings: [] };
  const readings =
    bytes.byteLength > MAX_REWRITTEN_BYTES
      ? [given]
      : [
          given,
          ...changeNewline(content),
          ...decodeBase64(content),
          ...inflate(content),
          ...changeUtf16(content),
          ...writeAgain(content),
        ];
  if (lostAs === undefined) return readings;
  // When the bytes are lost, it does not help to know how the JSON was written.
  return readings.map((reading) => ({ ...reading, findings: [notRawButSigned(lostAs)] }));
}

function changeNewline(content: Buffer): readonly BodyReading[] {
  if (content.at(-1) !== 0x0a) {
    return (['\n', '\r\n'] as const).map((newline) => ({
      bytes: Buffer.concat([content, Buffer.from(newline)]),
      findings: [
        trailingNewline(`A newline (${newline === '\n' ? 'LF' : 'CR LF'}) was removed from`),
      ],
    }));
  }
  const bytes = content.subarray(0, content.at(-2) === 0x0d ? -2 : -1);
  return [{ bytes, findings: [trailingNewline('A newline was added to')] }];
}

function decodeBase64(content: Buffer): readonly BodyReading[] {
  const text = content.toString('latin1').replace(/[\r\n]/g, '');
  if (!/^[\w+/-]{4,}={0,2}$/.test(text)) return [];
  return [{ bytes: Buffer.from(text, 'base64'), findings: [base64Body] }];
}

const inflaters = [
  ['gzip', gunzipSync],
  ['deflate', inflateSync],
  ['deflate, raw', inflateRawSync],
  ['br', brotliDecompressSync],
] as const;

function inflate(content: Buffer): readonly BodyReading[] {
  return inflaters.flatMap(([encoding, inflateBy]) => {
    try {
      const bytes = inflateBy(content, { maxOutputLength: MAX_REWRITTEN_BYTES });
      return [{ bytes, findings: [compressedBody(`compressed (${encoding})`)] }];
    } catch {
      return [];
    }
  });
}

const BOM = '\ufeff';

/** Reads the body as UTF-16, and writes it so, in either order of bytes, without and with a byte order mark. */
function changeUtf16(content: Buffer): readonly BodyReading[] {
  const text = content.toString();
  const written = ['', BOM].flatMap((mark) => {
    const bytes = Buffer.from(mark + text, 'utf16le');
    return [bytes, Buffer.from(bytes).swap16()];
  });
  const findings = [utf16Body('UTF-8', 'UTF-16')];
  const readings = written.map((bytes) => ({ bytes, findings }));
  if (content.byteLength % 2 === 1) return readings;
  const read = [content, Buffer.from(content).swap16()].map((bytes) => {
    const decoded = bytes.toString('utf16le');
    const unmarked = decoded.startsWith(BOM) ? decoded.slice(1) : decoded;
    return { bytes: Buffer.from(unmarked), findings: [utf16Body('UTF-16', 'UTF-8')] };
  });
  return [...read, ...readings];
}

function writeAgain(content: Buffer): readonly BodyReading[] {
  const text = content.toString();
  const writers = serializeByAll(text);
  // Editors and jq add a newline at the end.
  const given = writers.get(text.trim());
  writers.delete(text);
  return [...writers].map(([signed, writer]) => ({
    bytes: Buffer.from(signed),
    findings: [reserialized(given, writer)],
  }));
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
// A string that is not closed reaches to the end: otherwise each quote within it would be tried too.
const TOKENS =
  /"[^"\\]*(?:\\(?:.|$)[^"\\]*)*(?:"|$)|[[\]{}]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
/** Marks a number that is temporarily a string: JSON.parse would lose its spelling. */
const NUMBER_MARK = '\0number ';
const MARKED_NUMBERS = /"\\u0000number ([^"]*)"/g;
/** Marks a sorted key: objects put numeric keys first. */
const KEY_MARK = '\0key ';

/** Returns JSON as each program writes it, with the program's name; empty if the text is not JSON. */
export function serializeByAll(text: string): Map<string, string> {
  let depth = 0;
  let deepest = 0;
  const marked = text.replace(TOKENS, (token) => {
    if (token.startsWith('"')) return token;
    if (token === '{' || token === '[') deepest = Math.max(deepest, ++depth);
    else if (token === '}' || token === ']') depth -= 1;
    else return JSON.stringify(NUMBER_MARK + token);
    return token;
  });
  const written = new Map<string, string>();
  if (deepest > MAX_DEPTH) return written;
  try {
    const value: unknown = JSON.parse(marked);
    for (const [name, write] of jsonWriters) {
      const json = write(value).replace(MARKED_NUMBERS, '$1').replaceAll('"\\u0000key ', '"');
      if (!written.has(json)) written.set(json, name);
    }
  } catch {
    // Not JSON.
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
