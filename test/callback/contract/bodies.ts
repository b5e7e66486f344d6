import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { refusalOf, sampleRecord, sampleRequest } from '../sample-callback.js';
import { type Implementation, sampleVerifier } from './implementation.js';

const text = JSON.stringify(sampleRecord({ merchantPaymentReference: 'commande \u{1F9FE} №1 é' }));
const bytes = Buffer.from(text);

/** The bytes at an offset of a larger buffer, with garbage around them. */
function insideOther(): { buffer: ArrayBuffer; offset: number } {
  const around = new Uint8Array(bytes.length + 11).fill(0xff);
  around.set(bytes, 5);
  return { buffer: around.buffer, offset: 5 };
}

function exactArrayBuffer(): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

/** What Jest and other vm contexts hand over: a class that is not this realm's. */
function fromOtherRealm(expression: string): unknown {
  return runInNewContext(expression, { values: [...bytes] });
}

const accepted: [string, () => unknown][] = [
  ['a string', () => text],
  ['a Uint8Array', () => Uint8Array.from(bytes)],
  ['a Buffer at an offset', () => Buffer.from(insideOther().buffer, 5, bytes.length)],
  ['an ArrayBuffer', () => exactArrayBuffer()],
  ['a Uint8Array of another realm', () => fromOtherRealm('Uint8Array.from(values)')],
  ['an ArrayBuffer of another realm', () => fromOtherRealm('Uint8Array.from(values).buffer')],
];

const refused: [string, () => unknown, string][] = [
  ['a parsed object', () => sampleRecord(), 'a parsed object'],
  ['undefined', () => undefined, 'nothing'],
  ['a DataView', () => new DataView(exactArrayBuffer()), 'a parsed object'],
  ['a Buffer that went through JSON', () => bytes.toJSON(), 'a parsed object'],
  ['a lone high surrogate', () => '{"status":"\ud83e"}', 'a string with a lone surrogate'],
];

const invalidUtf8: [string, number[]][] = [
  ['a stray continuation byte', [0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
  ['a character that is cut short', [0xf0, 0x9f, 0xa7]],
];

export function describeBodies(implementation: Implementation): void {
  const verify = sampleVerifier(implementation);
  const signed = (rawBody: string | Uint8Array) => sampleRequest({ body: rawBody });
  const { headers } = sampleRequest({ body: text });

  describe('rawBody', () => {
    it.each(refused)('is refused from %s', async (_what, make, received) => {
      const error = await refusalOf(() => verify({ rawBody: make(), headers }));
      expect(error.code).toBe('RAW_BODY_REQUIRED');
      expect(error.message).toMatch(/^rawBody must be the bytes of the request/);
      expect(error.message).toContain(`received ${received}`);
    });

    it.each(accepted)(
      'is taken from %s, and given back as bytes in memory of its own',
      async (_what, make) => {
        const given = make();
        const { payment, rawBody } = await verify({ rawBody: given, headers });
        expect(payment).toEqual(JSON.parse(text));
        expect(rawBody.constructor).toBe(Uint8Array);
        expect(Buffer.from(rawBody).equals(bytes)).toBe(true);
        expect(rawBody.byteLength).toBe(rawBody.buffer.byteLength);
        const memory = ArrayBuffer.isView(given) ? given.buffer : given;
        expect(rawBody.buffer).not.toBe(memory);
      },
    );

    it('is verified by its own bytes, not by what it parses to', async () => {
      const reserialised = JSON.stringify(JSON.parse(text), null, 1);
      const error = await refusalOf(() => verify({ rawBody: reserialised, headers }));
      expect(error.code).toBe('SIGNATURE_MISMATCH');
    });

    it('does not see a later change of its buffer', async () => {
      const rawBody = Uint8Array.from(bytes);
      const verification = verify({ rawBody, headers });
      rawBody.fill(0x20);
      expect((await verification).payment).toEqual(JSON.parse(text));
    });
  });

  describe('an authentic body', () => {
    it.each([
      ['no bytes', Buffer.alloc(0)],
      ['text that is no JSON', 'status=paid'],
    ])('is refused when it is %s', async (_what, body) => {
      const error = await refusalOf(() => verify(signed(body)));
      expect(error.code).toBe('INVALID_RECORD');
      expect(error.issues).toEqual([
        { path: [], message: 'the body must be JSON, but it does not parse' },
      ]);
    });

    it.each([
      ['a string', `\ufeff${text}`],
      ['bytes', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])],
    ])('is refused with a byte order mark, as %s', async (_what, body) => {
      expect((await refusalOf(() => verify(signed(body)))).code).toBe('INVALID_RECORD');
    });

    it.each(invalidUtf8)('is refused, not repaired, with %s', async (_what, wrong) => {
      const body = Buffer.from(JSON.stringify(sampleRecord({ status: '????' })));
      body.set(wrong, body.indexOf('????'));
      const error = await refusalOf(() => verify(signed(body)));
      expect(error.code).toBe('INVALID_RECORD');
      expect(error.issues).toEqual([
        { path: [], message: 'the body must be UTF-8, but it has invalid bytes' },
      ]);
    });

    it('may have white space and line ends around it', async () => {
      const { payment } = await verify(signed(`\r\n\t ${text} \n`));
      expect(payment).toEqual(JSON.parse(text));
    });
  });
}
