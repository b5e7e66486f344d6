import { describe, expect, test } from 'vitest';
import { logText, plainJson, plainText } from '../../src/protocol/plain-text.js';

const dangerous = [
  ['ESC', '\u001b[31m', '\\x1b[31m'],
  ['NUL', '\u0000', '\\x00'],
  ['DEL', '\u007f', '\\x7f'],
  ['the one-character CSI', '\u009b2J', '\\x9b2J'],
  ['a right-to-left override', '\u202egpj', '\\u202egpj'],
  ['a bidi isolate', '\u2066', '\\u2066'],
  ['a line separator', '\u2028', '\\u2028'],
  ['a zero-width space', '\u200b', '\\u200b'],
  ['a Hangul filler', '\u3164', '\\u3164'],
  ['a joiner between Latin letters', '\u200d', '\\u200d'],
  ['a non-joiner between Latin letters', '\u200c', '\\u200c'],
  ['a variation selector of a letter', '\ufe0f', '\\ufe0f'],
  ['a tag character', '\u{e0041}', '\\udb40\\udc41'],
  ['half of a surrogate pair', '\ud800', '\\ud800'],
] as const;

describe('plain text', () => {
  test.each(dangerous)('writes %s as an escape', (_name, text, escaped) => {
    expect(plainText(`a${text}b`)).toBe(`a${escaped}b`);
  });

  test('is one line', () => {
    expect(plainText('a\r\nb\tc')).toBe('a\\r\\nb\\tc');
  });

  test('leaves what people write as it is', () => {
    for (const text of [
      'order-1 Größe 注文 заказ ✓ 👍',
      'a\\b "c"',
      '👩‍🚀',
      '❤️',
      '👁️‍🗨️',
      'می‌خواهم',
    ]) {
      expect(plainText(text)).toBe(text);
    }
  });
});

describe('text for errors and logs', () => {
  test.each(['\u001b', '\u0000', '\u007f', '\u009b', '\u2028', '\ud800', '\r\n'])(
    'has a space for %j',
    (control) => {
      expect(logText(`a${control}b${control}${control}c`)).toBe('a b c');
      expect(logText(control)).toBe('');
    },
  );

  test('is what people wrote', () => {
    expect(logText(' Größe 注文 👩‍🚀 می‌خواهم \n')).toBe('Größe 注文 👩‍🚀 می‌خواهم');
  });
});

describe('plain JSON', () => {
  test.each(dangerous)('parses to the same value with %s in it', (_name, text) => {
    const json = plainJson({ [text]: text });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(json).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e\u2028\u2066\u{e0041}]/u);
    expect(JSON.parse(json)).toEqual({ [text]: text });
  });

  test('is one line, or indented', () => {
    expect(plainJson({ a: ['b\n'] })).toBe('{"a":["b\\n"]}');
    expect(plainJson({ a: 1 }, 2)).toBe('{\n  "a": 1\n}');
  });

  test('of nothing is null', () => {
    expect(plainJson(undefined)).toBe('null');
  });
});
