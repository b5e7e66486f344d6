import { isUint8Array } from '../../callback/body.js';
import { describeValue } from '../../protocol/describe-value.js';
import { decodedWithLoss, emptyBody, notRawFinding, objectAsText } from './body-findings.js';
import type { CallbackFinding } from './diagnosis.js';

/** The body in the form in which it can be hashed, and what can be seen of it without a secret. */
export interface CapturedBody {
  readonly bytes: Uint8Array;
  /** What came instead of the bytes as received: `a parsed object`. Absent when those came. */
  readonly lostAs?: string;
  /** What is wrong for certain, whatever was signed. */
  readonly certain: readonly CallbackFinding[];
  /** What is the likely cause when nothing explains the signature. */
  readonly suspected: readonly CallbackFinding[];
}

export function captureBody(rawBody: unknown): CapturedBody {
  if (typeof rawBody === 'string') return captureText(rawBody);
  if (isUint8Array(rawBody)) return captureBytes(rawBody);
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') {
    return captureBytes(new Uint8Array(rawBody as ArrayBuffer));
  }
  return captureOther(rawBody);
}

function captureText(text: string): CapturedBody {
  const bytes = Buffer.from(text);
  return text.isWellFormed()
    ? captureBytes(bytes)
    : { bytes, certain: [decodedWithLoss], suspected: [] };
}

const REPLACEMENT_CHARACTER = Buffer.from('\ufffd');
const OBJECT_AS_TEXT = Buffer.from('[object Object]');

function captureBytes(bytes: Uint8Array): CapturedBody {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const suspected: CallbackFinding[] = [];
  if (content.byteLength === 0) suspected.push(emptyBody);
  if (content.equals(OBJECT_AS_TEXT)) suspected.push(objectAsText);
  if (content.includes(REPLACEMENT_CHARACTER)) suspected.push(decodedWithLoss);
  return { bytes, certain: [], suspected };
}

function captureOther(value: unknown): CapturedBody {
  const stored = readStoredBytes(value);
  const lostAs = describeLostBody(value, stored);
  const certain = [notRawFinding(lostAs)];
  const bytes = stored ?? Buffer.from(writeObject(value) ?? '');
  return { bytes, lostAs, certain, suspected: [] };
}

function describeLostBody(value: unknown, stored: Uint8Array | undefined): string {
  if (stored !== undefined) return 'an object that holds bytes';
  return typeof value === 'object' && value !== null ? 'a parsed object' : describeValue(value);
}

/** A DataView and the like, or what JSON makes of a Buffer. */
function readStoredBytes(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, data } = value as { type?: unknown; data?: unknown };
  return type === 'Buffer' && Array.isArray(data) ? Uint8Array.from(data) : undefined;
}

/** Nothing for what has no JSON: a circle, a BigInt, a function, nesting that exhausts the stack. */
function writeObject(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
