import { HOW_TO_GET_THE_BYTES, isUint8Array } from '../../callback/body.js';
import { describeValue } from '../../protocol/describe-value.js';
import type { CallbackFinding, Reading } from './diagnosis.js';
import { rewriteJson } from './json-writers.js';

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
  message: 'The body is empty: most often something has read the request before.',
  remedy: `${HOW_TO_GET_THE_BYTES}.`,
};

const base64Body: CallbackFinding = {
  code: 'body-base64',
  message: 'The body is base64, but the bytes that it encodes were signed.',
  remedy:
    "Decode it first: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') on AWS Lambda.",
};

function reserialized(given: string | undefined, signed: string): CallbackFinding {
  const was =
    given === undefined || given === signed ? '' : `the body is what ${given} writes, but `;
  return {
    code: 'body-reserialized',
    message: `The JSON was written again after signing: ${was}what was signed is what ${signed} writes.`,
    remedy: `Pass the bytes as received, not JSON that was parsed and written again. ${HOW_TO_GET_THE_BYTES}.`,
  };
}

const trailingNewline = (change: string): CallbackFinding => ({
  code: 'body-trailing-newline',
  message: `${change} the end of the body after signing.`,
  remedy:
    'Pass the bytes as received: find what reads, logs or stores the body on its way (an editor, a shell, a text column), and keep it as bytes.',
});

/** The body in the form in which it can be hashed. */
export interface CapturedBody {
  readonly bytes: Uint8Array;
  /** What was given instead of the bytes as received: `a parsed object`. Absent when those were. */
  readonly lostAs?: string;
  /** What is wrong with it when nothing explains the signature. */
  readonly faults: readonly CallbackFinding[];
}

export function captureBody(rawBody: unknown): CapturedBody {
  if (typeof rawBody === 'string' && rawBody.isWellFormed()) {
    return captureBytes(Buffer.from(rawBody));
  }
  if (isUint8Array(rawBody)) return captureBytes(rawBody);
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') {
    return captureBytes(new Uint8Array(rawBody as ArrayBuffer));
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
  if (typeof value === 'object' && value !== null) return 'a parsed object';
  if (typeof value === 'string') return 'a string that holds a lone surrogate';
  return value === undefined ? 'undefined' : describeValue(value);
}

/** Empty for what is not an object, and for one without JSON: a circle, a BigInt. */
function writeObject(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? '') : '';
  } catch {
    return '';
  }
}

/** Bytes that may have been signed. */
export interface BodyReading extends Reading {
  readonly bytes: Uint8Array;
}

// A larger body is taken as given: each way to write it costs as much as it is long.
const MAX_REWRITTEN_BYTES = 256 * 1024;

/** The body as given, and what it may have been when it was signed. */
export function listBodyReadings({ bytes, lostAs }: CapturedBody): readonly BodyReading[] {
  const content = asBuffer(bytes);
  const given: BodyReading = { bytes, findings: [] };
  const readings =
    bytes.byteLength > MAX_REWRITTEN_BYTES
      ? [given]
      : [given, ...changeNewline(content), ...decodeBase64(content), ...writeAgain(content)];
  if (lostAs === undefined) return readings;
  // How a parsed object would have to be written does not help when the bytes are lost.
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

function writeAgain(content: Buffer): readonly BodyReading[] {
  const rewritten = rewriteJson(content.toString());
  if (rewritten === undefined) return [];
  return [...rewritten.others].map(([text, writer]) => ({
    bytes: Buffer.from(text),
    findings: [reserialized(rewritten.writer, writer)],
  }));
}
