import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.js';
import {
  formatDuration,
  parseDecimal,
  parseDuration,
  parseHttpUrl,
  parseInstant,
  parseJsonOrText,
  parseOneOf,
  parseWholeNumber,
  readFields,
} from '../../src/cli/option-values.js';

describe('a whole number', () => {
  const parse = (text: string) => parseWholeNumber('--port', text, { min: 1, max: 65_535 });

  test.each([
    ['1', 1],
    ['65535', 65_535],
  ])('is read from %j', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test.each(['', '0', '65536', '-1', '+1', '1.5', '1e3', '0x10', ' 5', '5 ', '٣', '1'.repeat(400)])(
    'is not read from %j',
    (text) => {
      expect(() => parse(text)).toThrow('--port must be a whole number from 1 to 65535, in digits');
      expect(() => parse(text)).toThrow(UsageError);
    },
  );
});

test.each([
  ['70000', 'received 70000'],
  ['abc', 'received abc'],
  ['a-long-secret', 'received a string of 13 characters'],
])('a message quotes a number and a short word: %j', (text, received) => {
  const range = { min: 1, max: 65_535 };
  const refused = [
    () => parseWholeNumber('--port', text, range),
    () => parseDuration('--after', text, 1),
    () => parseOneOf('--retry-signing', text, ['fresh', 'original']),
  ];
  for (const read of refused) expect(read).toThrow(new RegExp(`; ${received}$`));
  expect(() => readFields('--answer-field', ['hunter2'])).not.toThrow('hunter2');
});

describe('a duration', () => {
  const LONGEST = 86_400_000 * 100;
  const parse = (text: string) => parseDuration('<duration>', text, LONGEST);

  test.each([
    ['90s', 90_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['100d', LONGEST],
  ])('of %j is %i ms', (text, ms) => {
    expect(parse(text)).toBe(ms);
  });

  test.each(['', '1', 's', '1 s', ' 1s', '-1s', '1S', '1e3s', '.5s', '1,5s', '1w', '1s1s', '1sec'])(
    'is not read from %j',
    (text) => {
      expect(() => parse(text)).toThrow(
        '<duration> must be a number with its unit ms, s, m, h or d, such as 500ms, 90s or 2d',
      );
    },
  );

  test('longer than the longest is refused', () => {
    expect(() => parse('101d')).toThrow('<duration> must be at most 100d');
  });

  test.each([
    [1_500, '1500ms'],
    [90_000, '90s'],
    [172_800_000, '2d'],
  ])('of %i ms is written %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('an amount', () => {
  test.each([
    ['100', 100],
    ['12.50', 12.5],
    ['0.01', 0.01],
    ['-5', -5],
    ['0.000000000000001', 1e-15],
    ['12.5000000000000000000', 12.5],
  ])('of %j is %d', (text, value) => {
    expect(parseDecimal('--amount', text)).toBe(value);
  });

  test.each(['', ' 5', '5 ', '1e3', '12,5', '0x10', '1_000', '+5', '.5', '5.', '05', '--5', 'NaN'])(
    'is not read from %j',
    (text) => {
      expect(() => parseDecimal('--amount', text)).toThrow(
        '--amount must be a decimal number such as 100 or 12.50',
      );
    },
  );

  test('is the same text when a double prints it', () => {
    for (const text of ['999999999999.999', '8.41', '4.35', '1.005', '70.07']) {
      expect(String(parseDecimal('--amount', text))).toBe(text);
    }
  });
});

describe('pairs', () => {
  test('are divided at the first equals sign', () => {
    expect(readFields('--field', ['a=b=c', 'b='])).toEqual({ a: 'b=c', b: '' });
  });

  test.each(['a', '', '=b'])('are not read from %j', (text) => {
    expect(() => readFields('--field', [text])).toThrow('--field must be of the form name=value');
  });

  test('are given once', () => {
    expect(() => readFields('--field', ['a=1', 'a=2'])).toThrow('--field a was given twice');
  });
});

describe('a value of JSON or text', () => {
  test.each([
    ['7', 7],
    ['12.50', 12.5],
    ['{"a":[1]}', { a: [1] }],
    ['{broken', '{broken'],
  ])('%j is %j', (text, value) => {
    expect(parseJsonOrText(text)).toEqual(value);
  });
});

describe('a URL', () => {
  test('is http or https', () => {
    expect(parseHttpUrl('--url', 'http://127.0.0.1:3000/a?b').href).toBe(
      'http://127.0.0.1:3000/a?b',
    );
    expect(parseHttpUrl('--url', 'https://shop.example').href).toBe('https://shop.example/');
  });

  test.each(['localhost', 'localhost:3000', 'shop.example/a/b', '127.0.0.1:3000/cb'])(
    'is not read from %j, and http:// is named',
    (text) => {
      expect(() => parseHttpUrl('--url', text)).toThrow(`give http://${text}`);
    },
  );

  test.each(['', 'ftp://a', '/path', 'http://', 'localhost:3000?token=a', 'a:b@localhost'])(
    'is not read from %j',
    (text) => {
      expect(() => parseHttpUrl('--url', text)).toThrow(
        '--url must be an absolute http or https URL',
      );
    },
  );

  test.each([
    'http://me:hunter2@127.0.0.1',
    'http://hunter2@127.0.0.1',
    'http://:hunter2@127.0.0.1',
  ])('with credentials is refused, and not quoted', (text) => {
    const parse = () => parseHttpUrl('--url', text);
    expect(parse).toThrow('--url must not hold a user name or password');
    expect(parse).not.toThrow('hunter2');
  });
});

test('one of several words is read, any other refused with the words', () => {
  expect(parseOneOf('--retry-signing', 'fresh', ['fresh', 'original'])).toBe('fresh');
  expect(() => parseOneOf('--retry-signing', 'Fresh', ['fresh', 'original'])).toThrow(
    '--retry-signing must be one of fresh, original',
  );
});

test.each([
  ['1769860800', 1_769_860_800_000],
  ['1769860800.5', 1_769_860_800_500],
  ['2026-01-31T12:00:00Z', 1_769_860_800_000],
  ['2026-01-31T13:00+01:00', 1_769_860_800_000],
])('%s is an instant', (text, expected) => {
  expect(parseInstant('--at', text)).toBe(expected);
});

test.each([
  ['1769860800000', /looks like milliseconds/],
  ['2026-01-31T12:00:00', /with an offset/],
  ['2026-13-31T12:00:00Z', /with an offset/],
  ['yesterday', /--at must be Unix seconds/],
])('refuses %j', (text, message) => {
  expect(() => parseInstant('--at', text)).toThrow(message);
});
