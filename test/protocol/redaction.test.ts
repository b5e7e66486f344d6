import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MIN_SHARED_WITH_CALLBACK, Redactor, WITHHELD } from '../../src/protocol/redaction.js';

const secret = 'Jt6sD1-pV0yGb7uKf4hNa';
const redactWith = (secrets: readonly (string | Uint8Array)[], text: string) =>
  new Redactor(secrets).redactAll([text])[0];

describe('a secret is taken out', () => {
  it.each<[string, string, string]>([
    ['as it is', `got ${secret}!`, 'got [redacted]!'],
    ['and no word that it does not have', 'an honest text', 'an honest text'],
  ])('%s', (_what, text, expected) => {
    expect(redactWith([secret], text)).toBe(expected);
  });

  it('URL-encoded, in hex and in base64, with and without its padding, given as text or bytes', () => {
    const odd = 'p@ss/w0rd+key??1a';
    const bytes = Buffer.from(odd);
    const base64 = bytes.toString('base64');
    expect(base64).toMatch(/=$/);
    const encoded = (['hex', 'base64url'] as const).map((encoding) => bytes.toString(encoding));
    const spellings = [
      odd,
      encodeURIComponent(odd),
      base64,
      base64.replaceAll('=', ''),
      ...encoded,
    ];
    for (const spelling of spellings) {
      expect(redactWith([odd], `at /${spelling}.`)).toBe('at /[redacted].');
      expect(redactWith([new Uint8Array(bytes)], `at /${spelling}.`)).toBe('at /[redacted].');
    }
  });

  it('whole, where it contains another', () => {
    expect(redactWith(['sD1', secret], `..${secret}..`)).toBe('..[redacted]..');
  });
});

describe('of a text from outside is taken out', () => {
  it('what lies beyond 4096 characters, and a secret at that place in whole', () => {
    expect(redactWith([secret], '.'.repeat(4_097))).toBe('.'.repeat(4_096));
    const cut = redactWith([secret], `${'.'.repeat(4_090)}${secret}`);
    expect(cut).toBe(`${'.'.repeat(4_090)}[redac`);
    const body = `"${'b'.repeat(30)}"`;
    const repeating = `${'.'.repeat(4_072)}${body}`;
    expect(new Redactor([secret]).redactAll([repeating], body)).toEqual([WITHHELD]);
  });
});

describe('a text that repeats 24 characters of what was sent is withheld', () => {
  const redactor = new Redactor([secret]);
  const show = (text: string, sent: string) => redactor.redactAll([text], sent)[0];
  const body = JSON.stringify({
    amount: 2500,
    merchantPaymentReference: 'order-1001 for Zoë 订单 🎟 of Saint-Étienne',
    note: 'ring twice',
    shipping_address_country_code: 'DE',
  });
  const middle = body.indexOf('order');

  it.each([
    ['at its beginning', (count: number) => body.slice(0, count)],
    ['within it', (count: number) => body.slice(middle, middle + count)],
    ['at its end', (count: number) => body.slice(-count)],
  ])('%s, and no fewer', (_where, part) => {
    for (const [before, after] of [
      ['', ''],
      ['|', ''],
      ['', '|'],
      ['got |', '… instead'],
    ]) {
      const text = (count: number) => `${before}${part(count)}${after}`;
      expect(show(text(23), body)).toBe(text(23));
      expect(show(text(24), body)).toBe(WITHHELD);
      expect(show(text(25), body)).toBe(WITHHELD);
    }
  });

  it('wherever they begin', () => {
    for (let at = 0; at + 24 <= body.length; at += 1) {
      const text = `got |${body.slice(at, at + 24)}|`;
      const isName = /^"?[\w-]+(?:":?)?$/.test(body.slice(at, at + 24));
      expect(show(text, body)).toBe(isName ? text : WITHHELD);
    }
  });

  it('but not where its end and its beginning stand side by side, or two halves change places', () => {
    for (const between of ['', '\0', '\n']) {
      const text = `${body.slice(-23)}${between}${body.slice(0, 23)}`;
      expect(show(text, body)).toBe(text);
    }
    const text = `${body.slice(12, 24)}|${body.slice(0, 12)}`;
    expect(show(text, body)).toBe(text);
  });

  it('unless they are the name of a field, which says what is wrong', () => {
    for (const name of ['merchantPaymentReference', 'shipping_address_country_code']) {
      for (const text of [`${name} is taken`, `"${name}" is taken`, `{"${name}": …}`]) {
        expect(show(text, body)).toBe(text);
      }
    }
    expect(show('"merchantPaymentReference":"o', body)).toBe(WITHHELD);
    const value = JSON.stringify({ a: 'merchantPaymentReference' });
    expect(show('merchantPaymentReference is taken', value)).toBe(WITHHELD);
  });

  it('with more for texts about a callback, which may name the payment', () => {
    const id = '5a3f0e4c-9f0b-4e57-8a54-0d4f6c1b2a90';
    const callback = JSON.stringify({ referenceNumber: id, status: 'paid' });
    const showWith = (text: string) =>
      redactor.redactAll([text], callback, MIN_SHARED_WITH_CALLBACK)[0];
    expect(showWith(`no order of ${id}`)).toBe(`no order of ${id}`);
    expect(showWith(callback.slice(0, 39))).toBe(callback.slice(0, 39));
    expect(showWith(callback.slice(0, 40))).toBe(WITHHELD);
    expect(show(`no order of ${id}`, callback)).toBe(WITHHELD);
  });

  it('of a body of a megabyte that repeats itself', () => {
    const large = JSON.stringify({ a: 'n'.repeat(1_000_000), b: 'm'.repeat(100) });
    const texts = ['n'.repeat(4_096), 'The amount must not be above 100.00 EUR.', 'm'.repeat(23)];
    expect(redactor.redactAll(texts, large)).toEqual([WITHHELD, ...texts.slice(1)]);
  });
});

it('a redactor shows no secret when it is printed, used or not', () => {
  const redactor = new Redactor([secret]);
  for (const use of [() => [], () => redactor.redactAll([secret], secret)]) {
    use();
    expect(inspect(redactor, { showHidden: true })).not.toContain(secret.slice(0, 12));
    expect(JSON.stringify(redactor)).toBe('{}');
  }
});
