import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MIN_SHARED_WITH_CALLBACK,
  REDACTED,
  Redactor,
  WITHHELD,
} from '../../src/protocol/redaction.js';

const secret = 'Jt6sD1-pV0yGb7uKf4hNa';
const redactWith = (secrets: readonly string[], text: string) =>
  new Redactor(secrets).redactAll([text])[0];

describe('parts of a secret are taken out', () => {
  it.each(Array.from({ length: secret.length - 11 }, (_, at) => at))(
    'twelve characters from character %i on',
    (at) => {
      const text = `got ${secret.slice(at, at + 12)}… instead`;
      expect(redactWith([secret], text)).toBe('got [redacted]… instead');
    },
  );

  it.each<[string, string, string]>([
    ['the whole of it', `got ${secret}!`, 'got [redacted]!'],
    ['all but its end', `got ${secret.slice(0, -3)}!`, 'got [redacted]!'],
    ['each time it comes', `${secret} ${secret.slice(5)}`, '[redacted] [redacted]'],
    ['twice without a space', `${secret}${secret}`, '[redacted]'],
    [
      'at the beginning and at the end',
      `${secret.slice(0, 13)} and ${secret.slice(3)}`,
      '[redacted] and [redacted]',
    ],
    ['no less than twelve characters', secret.slice(0, 11), secret.slice(0, 11)],
    ['no word that it does not have', 'an honest text', 'an honest text'],
    ['nothing of no text', '', ''],
  ])('%s', (_what, text, expected) => {
    expect(redactWith([secret], text)).toBe(expected);
  });

  it('in a URL', () => {
    const odd = 'p@ss/w0rd+key=1a';
    expect(redactWith([odd], `at /${encodeURIComponent(odd)}`)).toBe('at /[redacted]');
  });

  it('a shorter secret only as a whole, and one beside a longer', () => {
    expect(redactWith(['abcd'], 'abcd abc')).toBe('[redacted] abc');
    expect(redactWith(['abcd', secret], `abcd${secret}abcd abc`)).toBe('[redacted] abc');
  });

  it('where secrets overlap, or one contains another', () => {
    const both = ['abcdefghijkl', 'ghijklmnopqr'];
    expect(redactWith(both, '..abcdefghijklmnopqr..')).toBe('..[redacted]..');
    expect(redactWith([secret, 'sD1'], `..${secret}..`)).toBe('..[redacted]..');
  });

  it('as a plain search finds them', () => {
    // Other spellings of these secrets have characters that no text has.
    const word = fc.string({ unit: fc.constantFrom('p', 'p', 'p', 'q'), maxLength: 40 });
    const secrets = fc.array(
      word.filter((text) => text !== ''),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(word, secrets, (text, given) => {
        const marks = [...text].map(() => false);
        for (const found of given) {
          const length = Math.min(12, found.length);
          for (let at = 0; at + length <= text.length; at += 1) {
            if (found.includes(text.slice(at, at + length))) marks.fill(true, at, at + length);
          }
        }
        const plain = [...text].map((character, at) => (marks[at] ? '\0' : character)).join('');
        expect(redactWith(given, text)).toBe(plain.replaceAll(/\0+/g, REDACTED));
      }),
    );
  });
});

describe('of a text from outside is taken out', () => {
  const basic = Buffer.from(`key-4f1c9a2b:${secret}`).toString('base64');
  const redact = (text: string) => redactWith([secret, basic], text);

  it('the beginning of the Authorization header, as a server cuts it', () => {
    expect(redact(`Basic ${basic.slice(0, 20)}…`)).toBe('Basic [redacted]…');
  });

  it('what lies beyond 4096 characters, with what may be the beginning of it', () => {
    expect(redact('.'.repeat(4_096))).toBe('.'.repeat(4_096));
    expect(redact(`${'.'.repeat(4_090)}${secret}`)).toBe('.'.repeat(4_072));
    const body = `"${'b'.repeat(30)}"`;
    const cut = `${'.'.repeat(4_073)}${body}`;
    expect(new Redactor([secret]).redactAll([cut], body)).toEqual(['.'.repeat(4_072)]);
    expect(new Redactor([secret]).redactAll([cut.slice(1)], body)).toEqual([WITHHELD]);
  });

  it('every secret, where nothing was sent', () => {
    const texts = Array.from({ length: 9 }, () => `${'.'.repeat(4_000)}${secret}`);
    const shown = texts.map((text) => text.replace(secret, REDACTED));
    expect(new Redactor([secret]).redactAll(texts)).toEqual(shown);
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

  it('as a plain search finds them', () => {
    const word = fc.string({ unit: fc.constantFrom('p', 'p', 'p', 'q', ' '), maxLength: 60 });
    fc.assert(
      fc.property(word, word, (text, sent) => {
        const holdsPart = (from: string, of: string) =>
          Array.from(from, (_, at) => from.slice(at, at + 24)).some(
            (part) => part.length === 24 && of.includes(part),
          );
        expect(show(text, sent)).toBe(holdsPart(text, sent) ? WITHHELD : text);
      }),
    );
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

  it('but not one that repeats a shorter body', () => {
    for (const sent of ['{"pin":"1234"}', '{}', '7']) {
      expect(show(`got ${sent} instead`, sent)).toBe(`got ${sent} instead`);
    }
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

  it('and the others are shown, without secrets', () => {
    const texts = [`got ${secret}`, `got ${body}`, 'an honest text that is long', body];
    const shown = [`got ${REDACTED}`, WITHHELD, texts[2], WITHHELD];
    expect(redactor.redactAll(texts, body)).toEqual(shown);
    expect(redactor.redactAll(texts.slice(1), '')).toEqual(texts.slice(1));
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
