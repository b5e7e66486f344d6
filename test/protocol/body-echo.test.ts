import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { markBodyEcho } from '../../src/protocol/body-echo.js';
import { Redactor, replaceMarked } from '../../src/protocol/redaction.js';
import { isFullSize } from '../full-size.js';

// Coprime with the 2, 3 and 4 characters that encodings go by.
const STEP = isFullSize ? 5 : 11;

const items = Array.from({ length: 400 }, (_, index) => ({
  sku: `sku-${index * 7919}`,
  name: `Größe "${index}" & <b> 50%+, it's\\here 订单 ${index}`,
  tags: ['', 'x', ''],
}));
const body = JSON.stringify({ merchantPaymentReference: 'order-1001', items });
const redact = (text: string, of = body) => replaceMarked(text, markBodyEcho(text, of));

type Spelling = (text: string) => string;
const json: Spelling = (text) => JSON.stringify(text).slice(1, -1);
const html: Spelling = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
const base64: Spelling = (text) => Buffer.from(text).toString('base64');

const spellings: readonly [string, Spelling][] = [
  ['as it is', (text) => text],
  ['read as Latin-1', (text) => Buffer.from(text).toString('latin1')],
  ['in a URL', encodeURIComponent],
  ['in a URL, in small letters', (text) => encodeURIComponent(text).toLowerCase()],
  ['in a form', (text) => new URLSearchParams([['a', text]]).toString().slice(2)],
  ['in JSON', json],
  ['in JSON that is in JSON', (text) => json(json(text))],
  ['as inspect quotes it', (text) => inspect(text).slice(1, -1)],
  ['in HTML', html],
  ['in base64', base64],
  ['in base64 after one byte', (text) => base64(`.${text}`).slice(2)],
  ['in base64 after two bytes', (text) => base64(`..${text}`).slice(3)],
  ['in base64 in a URL', (text) => encodeURIComponent(base64(text))],
  ['in base64 in lines', (text) => base64(text).replaceAll(/.{20}/g, '$&\r\n')],
  ['in base64url', (text) => Buffer.from(text).toString('base64url')],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['in capital hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['as Python prints it', (text) => text.replaceAll('":', '": ').replaceAll(',"', ', "')],
];

describe('of a large body, a part is taken out', () => {
  it.each(spellings)('%s, wherever it begins', (how, spell) => {
    // Small letters are other letters, unless they are of an escape.
    const source = how.includes('small') ? body.toLowerCase() : body;
    for (let at = 11_000; at < 11_300; at += STEP) {
      const text = `got |${spell(source.slice(at, at + 60))}| instead`;
      // Once in some ten thousand edges, a part with the bar has the hash of another by chance, and the bar goes too.
      expect(redact(text, source)).toMatch(
        /^got \|?[\s\S]{0,6}\[redacted\][\s\S]{0,8}\|? instead$/,
      );
    }
  });

  it('with characters beyond the first plane', () => {
    const source = body.replaceAll('订', '🎟');
    const at = source.indexOf('🎟', 11_000) - 30;
    expect(redact(`got |${source.slice(at, at + 60)}|`, source)).toMatch(
      /^got \|.{0,6}\[redacted\]/s,
    );
  });

  it.each(spellings)('%s, cut to 40 characters of it', (how, spell) => {
    const source = how.includes('small') ? body.toLowerCase() : body;
    const spelled = spell(source.slice(11_000, 11_400)).replaceAll(/\s/g, '');
    for (let at = 0; at + 40 <= spelled.length; at += STEP) {
      const text = `got |${spelled.slice(at, at + 40)}|`;
      expect(redact(text, source)).toContain('[redacted]');
    }
  });

  it('as long as the text', () => {
    expect(redact(body.slice(5_000, 9_000))).toBe('[redacted]');
    expect(redact(`${body.slice(0, 40)} and ${body.slice(-40)}`)).toBe('[redacted] and [redacted]');
  });

  it('that already contains escapes', () => {
    const escaped = JSON.stringify({
      items,
      note: 'a%20b%2520c &quot;d&quot; &amp;amp; e+f %zz &x;',
    });
    const part = escaped.slice(-90);
    for (const text of [part, json(part), part.replaceAll('\\', ''), html(part)]) {
      expect(redact(`got |${text}|`, escaped)).toBe('got |[redacted]|');
    }
  });

  it('but nothing shorter than 40 characters in a row', () => {
    expect(redact(body.slice(0, 39))).toBe(body.slice(0, 39));
    const honest = `items[3].name: ${body.slice(11_000, 11_030)}, merchantPaymentReference order-1001`;
    expect(redact(honest)).toBe(honest);
    expect(redact('')).toBe('');
  });
});

it('a search for a body of a megabyte takes nothing honest out, and reads it once', () => {
  const large = JSON.stringify({ a: 'n'.repeat(1_000_000), b: 'm'.repeat(100) });
  const texts = ['n'.repeat(4_096), 'The amount must not be above 100.00 EUR for this method.'];
  const redactor = new Redactor(['Jt6sD1-pV0yGb7uKf4hNa']);
  expect(redactor.redactAll([...texts, 'm'.repeat(39)], large)).toEqual([
    '[redacted]',
    texts[1],
    'm'.repeat(39),
  ]);
});

it('texts beyond what is searched are left out, whatever a schema finds', () => {
  const redactor = new Redactor(['Jt6sD1-pV0yGb7uKf4hNa']);
  const many = Array.from({ length: 100 }, (_, index) => `${index} ${'é'.repeat(1_000)}`);
  const shown = redactor.redactAll([...many, 'short'], body);
  expect(shown[0]).toBe(many[0]);
  expect(shown[99]).toBe('[redacted]');
  expect(shown[100]).toBe('short');
});
