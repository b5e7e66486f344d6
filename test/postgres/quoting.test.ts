import { describe, expect, it } from 'vitest';
import { literal } from '../../src/postgres/dialect.js';

describe('a literal', () => {
  it.each([
    ['PAY-1', "'PAY-1'"],
    ['', "''"],
    ["o'clock's", "'o''clock''s'"],
    ['a\\b', "E'a\\\\b'"],
    ["\\'", "E'\\\\'''"],
    ['a?b', "E'a\\x3fb'"],
  ])('of %s is %s', (text, sql) => {
    expect(literal(text)).toBe(sql);
  });
});
