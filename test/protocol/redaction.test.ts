import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Redaction, Redactor, redactParts } from '../../src/protocol/redaction.js';

const secret = 'Jt6sD1-pV0yGb7uKf4hNa';
const parts = (minLength: number) => [{ text: secret, minLength }];

/** Marks every part of every secret that the text has, one by one. */
function searchPlainly(text: string, secrets: readonly Redaction[]): string {
  const marks = [...text].map(() => ' ');
  for (const { text: found, minLength } of secrets) {
    const length = Math.min(minLength, found.length);
    for (let at = 0; at + length <= text.length; at += 1) {
      if (found.includes(text.slice(at, at + length))) marks.fill('#', at, at + length);
    }
  }
  return [...text]
    .map((character, at) => (marks[at] === '#' ? '\0' : character))
    .join('')
    .replaceAll(/\0+/g, '[redacted]');
}

describe('parts of a secret are taken out', () => {
  it.each(Array.from({ length: secret.length - 11 }, (_, at) => at))(
    'twelve characters from character %i on',
    (at) => {
      const text = `got ${secret.slice(at, at + 12)}… instead`;
      expect(redactParts(text, parts(12))).toBe('got [redacted]… instead');
    },
  );

  it.each<[string, string, string]>([
    ['the whole of it', `got ${secret}!`, 'got [redacted]!'],
    ['all but its end', `got ${secret.slice(0, -3)}!`, 'got [redacted]!'],
    ['each time it comes', `${secret} ${secret.slice(5)}`, '[redacted] [redacted]'],
    ['twice without a space', `${secret}${secret}`, '[redacted]'],
    ['no less than twelve characters', secret.slice(0, 11), secret.slice(0, 11)],
    ['no word that it does not have', 'an honest text', 'an honest text'],
    ['nothing of no text', '', ''],
    [
      'no NULs before its first character',
      '\0'.repeat(11) + secret[0],
      '\0'.repeat(11) + secret[0],
    ],
  ])('%s', (_what, text, expected) => {
    expect(redactParts(text, parts(12))).toBe(expected);
  });

  it('a shorter secret only as a whole', () => {
    const short = [{ text: 'abcd', minLength: 12 }];
    expect(redactParts('abcd abc', short)).toBe('[redacted] abc');
  });

  it('each of two parts, at the beginning and at the end', () => {
    const text = `${secret.slice(0, 13)} and ${secret.slice(3)}`;
    expect(redactParts(text, parts(12))).toBe('[redacted] and [redacted]');
  });

  // Two texts with the same hash.
  const [one, other] = ['vedwowkmewws', 'dutxerfsuhzj'];

  it('but not another text that has their hash', () => {
    expect(redactParts(`${one} ${other}`, [{ text: one, minLength: 12 }])).toBe(
      `[redacted] ${other}`,
    );
  });

  it('of two secrets that have the same hash', () => {
    const both = [one, other].map((text) => ({ text, minLength: 12 }));
    expect(redactParts(`${one} ${other}`, both)).toBe('[redacted] [redacted]');
  });

  it('of a text that repeats itself, with a secret that does', () => {
    const repeated = [{ text: 'n'.repeat(1_000_000), minLength: 40 }];
    expect(redactParts(`${'n'.repeat(4_000)}m${'n'.repeat(39)}`, repeated)).toBe(
      `[redacted]m${'n'.repeat(39)}`,
    );
  });

  it('as a plain search finds them', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 30 });
    const redactions = fc.array(
      fc.record({
        text: word.filter((text) => text !== ''),
        minLength: fc.integer({ min: 1, max: 6 }),
      }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(word, redactions, (text, secrets) => {
        expect(redactParts(text, secrets)).toBe(searchPlainly(text, secrets));
      }),
    );
  });

  it('where secrets overlap', () => {
    const both = [
      { text: 'abcdefghijkl', minLength: 12 },
      { text: 'ghijklmnopqr', minLength: 12 },
    ];
    expect(redactParts('..abcdefghijklmnopqr..', both)).toBe('..[redacted]..');
  });
});

describe('of a text from outside is taken out', () => {
  const basic = Buffer.from(`key-4f1c9a2b:${secret}`).toString('base64');
  const redactor = new Redactor([secret, basic]);
  const redact = (text: string, requestBody?: string) => redactor.redactAll([text], requestBody)[0];
  const body = JSON.stringify({ merchantPaymentReference: 'a'.repeat(30), note: 'b'.repeat(30) });

  it('the beginning of the Authorization header, as a server cuts it', () => {
    expect(redact(`Basic ${basic.slice(0, 20)}…`)).toBe('Basic [redacted]…');
  });

  it.each([0, 1, 2])('base64 of something that holds the secret after %i more bytes', (before) => {
    const encoded = Buffer.from(`{"a":"${'.'.repeat(before)}${secret}"}`).toString('base64');
    expect(redact(encoded)).toMatch(/^.{6,12}\[redacted\].{2,6}$/);
  });

  it('a part of the body, but no field that is quoted alone', () => {
    expect(redact(`near ${body.slice(0, 60)}`, body)).toBe('near [redacted]');
    expect(redact(body.slice(0, 40), body)).toBe('[redacted]');
    expect(redact(body.slice(0, 39), body)).toBe(body.slice(0, 39));
    const honest = `merchantPaymentReference ${'a'.repeat(30)} exists`;
    expect(redact(honest, body)).toBe(honest);
  });

  it.each([
    ['indented', JSON.stringify(JSON.parse(body), null, 2)],
    ['as Python prints it', body.replaceAll('":"', '": "').replaceAll('","', '", "')],
  ])('the body, %s', (_how, printed) => {
    expect(redact(`got ${printed} instead`, body)).toBe('got [redacted] instead');
  });

  it('a shorter body only as a whole', () => {
    const short = '{"note":"a b c"}';
    expect(redact('got { "note": "a b c" }', short)).toBe('got [redacted]');
    expect(redact('note a b c', short)).toBe('note a b c');
  });

  it('what lies beyond 4096 characters, searched or not', () => {
    expect(redact('.'.repeat(4_096))).toBe('.'.repeat(4_096));
    const text = redact(`${'.'.repeat(4_090)}${secret}`);
    expect(text).toBe('.'.repeat(4_056));
  });
});
