import {
  base64Finding,
  doubleEncodedFinding,
  notRawButRight,
  readAsLatin1Finding,
  writtenAsLatin1Finding,
} from './body-findings.js';
import { listSpellings, MAX_DIFFERENCES, type Spellings } from './body-spellings.js';
import type { CapturedBody } from './captured-body.js';
import type { CallbackFinding, Reading } from './diagnosis.js';

/** Bytes that could have been signed. */
export interface BodyReading extends Reading {
  readonly bytes: Uint8Array;
}

// A larger body is taken as given: every spelling of it would cost as much as it is long.
const MAX_RESPELLED_BYTES = 256 * 1024;
// What the spellings may weigh together: 128 of a body of 64 KiB, all of one of usual size.
const MAX_SPELLED_BYTES = 8 * 1024 * 1024;
const MAX_READINGS = 1000;

/** The bytes that could have been signed. They are made as they are asked for. */
export class BodyReadings {
  readonly #lostAs: string | undefined;
  readonly #decodings: readonly SpelledDecoding[];
  readonly #byWeight: (readonly BodyReading[])[] = [];
  readonly #seen = new Set<string>();
  #spelledBytes = 0;
  /** No reading has more differences than this. */
  readonly heaviest: number;

  constructor({ bytes, lostAs }: CapturedBody) {
    this.#lostAs = lostAs;
    if (bytes.byteLength > MAX_RESPELLED_BYTES) {
      this.heaviest = 0;
      this.#decodings = [];
      this.#byWeight.push([{ bytes, findings: [], weight: 0 }]);
    } else {
      this.heaviest = MAX_DIFFERENCES + 1;
      this.#decodings = listDecodings(bytes).map(prepareSpellings);
    }
  }

  /** How many there have been so far. */
  get count(): number {
    return this.#byWeight.reduce((sum, { length }) => sum + length, 0);
  }

  /** The readings with so many differences; 0 is the body as given. */
  ofWeight(weight: number): readonly BodyReading[] {
    while (this.#byWeight.length <= weight) {
      this.#byWeight.push(this.#spell(this.#byWeight.length));
    }
    return this.#byWeight[weight] ?? [];
  }

  #spell(weight: number): readonly BodyReading[] {
    const readings: BodyReading[] = [];
    for (const { findings: decoded, spellings, encoding } of this.#decodings) {
      for (const { findings, write } of spellings(weight - decoded.length)) {
        const isSpent = this.#seen.size >= MAX_READINGS || this.#spelledBytes > MAX_SPELLED_BYTES;
        if (isSpent) return readings;
        const bytes = Buffer.from(write(), encoding);
        if (this.#isNew(bytes)) {
          readings.push({ bytes, weight, findings: this.#explain([...decoded, ...findings]) });
        }
      }
    }
    return readings;
  }

  #isNew(bytes: Buffer): boolean {
    this.#spelledBytes += bytes.byteLength;
    const identity = bytes.toString('latin1');
    if (this.#seen.has(identity)) return false;
    this.#seen.add(identity);
    return true;
  }

  /** How a parsed object would have to be written says nothing to who lost the bytes. */
  #explain(findings: readonly CallbackFinding[]): readonly CallbackFinding[] {
    return this.#lostAs === undefined ? findings : [notRawButRight(this.#lostAs)];
  }
}

interface SpelledDecoding {
  readonly findings: readonly CallbackFinding[];
  readonly spellings: Spellings;
  readonly encoding: 'utf8' | 'latin1';
}

function prepareSpellings({ bytes, findings }: Decoding): SpelledDecoding {
  const text = decodeUtf8(bytes);
  // Bytes that are no UTF-8 still have edges and line ends; as Latin-1 every byte is a character.
  return text === undefined
    ? {
        findings,
        encoding: 'latin1',
        spellings: listSpellings(Buffer.from(bytes).toString('latin1')),
      }
    : { findings, encoding: 'utf8', spellings: listSpellings(text) };
}

interface Decoding {
  readonly bytes: Uint8Array;
  readonly findings: readonly CallbackFinding[];
}

function listDecodings(bytes: Uint8Array): readonly Decoding[] {
  const decodings: Decoding[] = [{ bytes, findings: [] }];
  const add = (decoded: Uint8Array | undefined, finding: CallbackFinding) => {
    if (decoded !== undefined) decodings.push({ bytes: decoded, findings: [finding] });
  };
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    add(Buffer.from(Buffer.from(bytes).toString('latin1')), writtenAsLatin1Finding);
    return decodings;
  }
  add(decodeBase64(text), base64Finding);
  add(decodeJsonString(text), doubleEncodedFinding);
  add(undoLatin1(text), readAsLatin1Finding);
  return decodings;
}

// Made when it is needed: jest-environment-jsdom has no TextDecoder, and loads this module all the same.
let utf8: InstanceType<typeof TextDecoder> | undefined;

/** Nothing for bytes that are not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  utf8 ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/[\r\n]/g, '');
  return /^[\w+/-]{4,}={0,2}$/.test(compact) ? Buffer.from(compact, 'base64') : undefined;
}

function decodeJsonString(text: string): Uint8Array | undefined {
  try {
    const inner: unknown = JSON.parse(text);
    return typeof inner === 'string' ? Buffer.from(inner) : undefined;
  } catch {
    return undefined;
  }
}

/** What Windows-1252 has at 0x80 to 0x9F; a blank stands for the five that it leaves free. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';

/** The bytes before they were read as Latin-1; nothing when they can't have been. */
function undoLatin1(text: string): Uint8Array | undefined {
  if (!/[^\0-\x7f]/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const place = code > 0xff ? WINDOWS_1252.indexOf(text.charAt(index)) : -1;
    if (code > 0xff && place === -1) return undefined;
    bytes[index] = place === -1 ? code : 0x80 + place;
  }
  return bytes;
}
