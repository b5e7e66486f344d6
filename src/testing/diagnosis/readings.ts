import { KeyObject } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { assertRawBody } from '../../callback/body.js';
import type { SigningSecret } from '../../callback/options.js';
import { HOW_TO_GET_THE_BYTES } from '../../callback/refusals.js';
import { describeValue } from '../../protocol/describe-value.js';
import type { CallbackFinding } from './diagnosis.js';

const remedies = {
  'body-not-raw': `Pass the bytes as received. ${HOW_TO_GET_THE_BYTES}.`,
  'body-empty': `${HOW_TO_GET_THE_BYTES}.`,
  'body-base64':
    "Decode it first: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') on AWS Lambda.",
  'body-compressed': 'Exempt this path from what compresses bodies after signing, such as a proxy.',
  'body-reserialized': `Pass the bytes as received, not JSON that was parsed and serialized again. ${HOW_TO_GET_THE_BYTES}.`,
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

/** Bytes that may have been signed, or have signed. */
export interface Reading {
  readonly bytes: Buffer;
  /** How they differ from what was given. */
  readonly findings: readonly CallbackFinding[];
}

export interface CapturedBody {
  /** The body as given; empty if it was not given as text or bytes. */
  readonly bytes: Buffer;
  /** The forms that it may have had when it was signed, first as given. */
  readonly readings: readonly Reading[];
  /** What looks wrong with it; reported when nothing explains the signature. */
  readonly faults: readonly CallbackFinding[];
}

// Of a larger body only what was given is tried: the cost of each form grows with the length.
const MAX_REWRITTEN_BYTES = 256 * 1024;

export function captureBody(rawBody: unknown): CapturedBody {
  let bytes: Buffer;
  try {
    bytes = Buffer.from(assertRawBody(rawBody));
  } catch {
    return captureLost(rawBody);
  }
  const others =
    bytes.byteLength > MAX_REWRITTEN_BYTES
      ? []
      : [...decodeBase64(bytes), ...inflate(bytes), ...writeAgain(bytes.toString())];
  return { bytes, readings: [{ bytes, findings: [] }, ...others], faults: listFaults(bytes) };
}

/** What is neither text nor bytes: its contents may have been signed, in the form of one of the programs. */
function captureLost(value: unknown): CapturedBody {
  const isObject = typeof value === 'object' && value !== null;
  const what = `The body is ${isObject ? 'a parsed object' : describeValue(value)}, not the bytes as received`;
  const matches = `${what}. The signature matches these contents: only the bytes were lost.`;
  const readings = [...(isObject ? writeAs(value).keys() : [])].map((json) => ({
    bytes: Buffer.from(json),
    findings: [finding('body-not-raw', matches)],
  }));
  const lost = finding('body-not-raw', `${what}, which cannot be restored from it.`);
  return { bytes: Buffer.alloc(0), readings, faults: [lost] };
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

function decodeBase64(content: Buffer): readonly Reading[] {
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

function inflate(content: Buffer): readonly Reading[] {
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

const compact = (value: unknown): string => JSON.stringify(value);
// JSON strings have no raw line breaks, so each one is indentation.
const spaced = (value: unknown): string =>
  JSON.stringify(value, null, 1).replaceAll(/,\n */g, ', ').replaceAll(/\n */g, '');
const escapeUnicode = (json: string): string =>
  json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** What serializes bodies again in practice. */
const jsonWriters: readonly (readonly [name: string, write: (value: unknown) => string])[] = [
  ['JSON.stringify', compact],
  ['JSON.stringify(value, null, 2)', (value) => JSON.stringify(value, null, 2)],
  ["Python's json.dumps", (value) => escapeUnicode(spaced(value))],
  ["PHP's json_encode", (value) => escapeUnicode(compact(value)).replaceAll('/', '\\/')],
];

/** The JSON that each program writes, with its name. Empty for what JSON can't represent, and for what is too deep. */
function writeAs(value: unknown): Map<string, string> {
  const written = new Map<string, string>();
  try {
    for (const [name, write] of jsonWriters) {
      const json = write(value);
      if (!written.has(json)) written.set(json, name);
    }
  } catch {
    // A cycle or a BigInt; or the stack overflows.
  }
  return written;
}

/** The body as each program writes it: one of them may have been signed. */
function writeAgain(text: string): readonly Reading[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const written = writeAs(value);
  // Editors and jq add a newline at the end.
  const given = written.get(text.trim());
  written.delete(text);
  return [...written].map(([json, signed]) => {
    const was =
      given === undefined || given === signed ? '' : `the body is as ${given} writes it, but `;
    const message = `The JSON was serialized again after signing: ${was}the signature is that of JSON as ${signed} writes it.`;
    return { bytes: Buffer.from(json), findings: [finding('body-reserialized', message)] };
  });
}

/** A key that may have made the signature. */
export interface KeyReading extends Reading {
  readonly secretIndex: number;
}

export const edgeSpace: CallbackFinding = {
  code: 'secret-edge-space',
  message:
    'The signing secret has white space around it, such as the newline at the end of a file.',
  remedy: 'Pass it without that white space: secret.trim().',
};

const quoted: CallbackFinding = {
  code: 'secret-quoted',
  message: 'The signing secret has quotes around it that are not part of it.',
  remedy:
    'Remove them where the secret is set: docker --env-file and Kubernetes keep quotes that a shell or dotenv removes.',
};

/** For a mismatch that neither the body nor the headers explain. */
export const otherSecret: CallbackFinding = {
  code: 'secret-other',
  message:
    'The signature was made with a secret other than the signing secret, the callback is forged, or its body was parsed and serialized again in an unknown way: it is a payment status record, and no known change to it explains the mismatch. Do not act on this callback.',
  remedy:
    'Compare the signing secret with that of the account and environment (test or live) that sent this callback.',
};

/** `verifyCallback` refuses a secret with white space around it. */
export const trimSecret = (secret: SigningSecret): SigningSecret =>
  typeof secret === 'string' ? secret.trim() : secret;

/** Returns the keys that the given secrets may represent: as given, without white space, without quotes. */
export function listKeyReadings(secrets: readonly SigningSecret[]): readonly KeyReading[] {
  return secrets.flatMap((secret, secretIndex) => {
    const bytes = Buffer.from(
      secret instanceof KeyObject ? secret.export() : (secret as string | Uint8Array),
    );
    const text = bytes.toString();
    const trimmed = text.trim();
    const unquoted = trimmed.replace(/^(["'`])(.*)\1$/s, '$2');
    const edge = trimmed === text ? [] : [edgeSpace];
    const readings = [
      ...(typeof secret === 'string' ? [] : [{ bytes, findings: [] }]),
      { bytes: Buffer.from(trimmed), findings: edge },
      { bytes: Buffer.from(unquoted), findings: [...edge, quoted] },
    ];
    return readings.map((reading) => ({ ...reading, secretIndex }));
  });
}
