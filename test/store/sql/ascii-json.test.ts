import { expect, it } from 'vitest';
import { toAsciiJson } from '../../../src/store/sql/sql.js';

it('writes JSON in ASCII that means the same', () => {
  const value = { payer: 'Łukasz 💳', lone: '\ud83d', plain: '~\u007f', edge: '\u0080' };
  const ascii = toAsciiJson(JSON.stringify(value));
  expect(ascii).toMatch(/^[\0-\x7f]*$/);
  expect(ascii).toContain('"payer":"\\u0141ukasz \\ud83d\\udcb3"');
  expect(JSON.parse(ascii)).toEqual(value);
});
