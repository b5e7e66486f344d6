import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.js';
import { parseExactJson } from '../../src/cli/option-values.js';

const parse = (text: string) => parseExactJson('--field nested', text);

describe('a number, alone and anywhere in a value,', () => {
  test.each([
    ...['0', '-0', '0.0', '0e999', '1', '-1', '1.0', '12.50', '0.1', '-0.070', '1e3', '1E+3'],
    ...['1.5e-7', '100e-2', '9007199254740991', '9007199254740992', '123456789.12345678'],
    ...['1e300', '5e-324', '1000000000000000000000', '1e21'],
  ])('%s is read: it is sent with the same value', (token) => {
    const value = Number(token);
    expect(parse(token)).toBe(value);
    expect(parse(`{"n":${token}}`)).toEqual({ n: value });
    expect(parse(` [ [ ${token} , ${token} ] ] `)).toEqual([[value, value]]);
  });

  test.each([
    ['12345678901234567890', '12345678901234567000'],
    ['9007199254740993', '9007199254740992'],
    ['-9007199254740993.0', '-9007199254740992'],
    ['0.1000000000000000055', '0.1'],
    ['1e999', 'null'],
    ['-1e999', 'null'],
    ['1e-999', '0'],
    [`1e${'9'.repeat(30)}`, 'null'],
  ])('%s is refused: it would be sent as %s', (token, sent) => {
    for (const text of [token, `{"n":${token}}`, `[1,[${token}]]`, `{"a":"\\"}","n" : ${token}}`]) {
      expect(() => parse(text), text).toThrow(UsageError);
      expect(() => parse(text), text).toThrow(
        `--field nested has the number ${token}, which would be sent as ${sent}: `,
      );
    }
  });

  test('is not quoted in full', () => {
    expect(() => parse('1'.repeat(1_000))).toThrow(`number ${'1'.repeat(40)}…, which`);
  });
});

test('digits in a string are not a number', () => {
  const value = { '12345678901234567890': '1e999 \\" {"a":1e999}', a: '\\' };
  expect(parse(JSON.stringify(value))).toEqual(value);
});

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"b":{},"a":2}',
  '[{"x":{"a":1, "a" :1}}]',
  String.raw`{"a":1,"\u0061":2}`,
])('the field that is twice in one object of %s is refused', (text) => {
  expect(() => parse(text)).toThrow(UsageError);
  expect(() => parse(text)).toThrow('--field nested has the field "a" twice in one object');
});

test.each(['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', '{"a":"a","b":"a"}', '["a","a"]'])(
  'the same name in several objects of %s is read',
  (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  },
);

test.each(['', '{', '{"a":01}', "{'a':1}", 'text'])('%j is not JSON', (text) => {
  expect(() => parse(text)).toThrow(SyntaxError);
});
