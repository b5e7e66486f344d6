import { describe, expect, test } from 'vitest';
import { COMPACT, codesOf, diagnose, expectExplained, sign, TIMESTAMP } from './scene.js';

const MEGABYTE = 1024 * 1024;
const depth = 100_000;
const wrong = 'ab'.repeat(32);

function nest(levels: number): unknown {
  let nested: unknown = {};
  for (let level = 0; level < levels; level += 1) nested = { nested };
  return nested;
}

describe('hostile bodies are only refused:', () => {
  test.each<[string, unknown]>([
    ['deep arrays', '['.repeat(depth) + ']'.repeat(depth)],
    ['deep arrays that do not end', '['.repeat(depth)],
    ['deep objects', '{"a":'.repeat(depth) + 1 + '}'.repeat(depth)],
    ['a deep parsed object', nest(depth)],
    ['lone surrogates', `${COMPACT}\ud800`],
    ['escaped lone surrogates', '{"a":"\\ud800","\\udfff":1}'],
    ['invalid UTF-8', Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80])],
    ['NUL bytes', Buffer.alloc(1000)],
    ['white space', ' '.repeat(MEGABYTE / 8)],
    ['line breaks', '\n'.repeat(MEGABYTE / 8)],
    ['line breaks between blanks', ' \n'.repeat(MEGABYTE / 16)],
    ['quotes', '"'.repeat(MEGABYTE / 8)],
    ['backslashes', `"${'\\\\'.repeat(MEGABYTE / 16)}"`],
    ['many small values', `[${'1,'.repeat(MEGABYTE / 16)}1]`],
    [
      'many keys',
      JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, n]))),
    ],
    ['text that every escape touches', JSON.stringify('é/<&\u2028🧾'.repeat(5000))],
    ['base64', 'A'.repeat(MEGABYTE / 8)],
    ['a large body', Buffer.alloc(8 * MEGABYTE, 0x20)],
    ['a stored Buffer of what are no bytes', { type: 'Buffer', data: [{}, 'x', 1e9, null] }],
  ])('%s', (_name, rawBody) => {
    const diagnosis = diagnose({ rawBody, signature: wrong });
    expect(diagnosis.verified).toBe(false);
    expect(diagnosis).not.toHaveProperty('secretIndex');
  });

  test('keys of Object.prototype are keys like others', () => {
    const signed = '{"__proto__":{"a":1},"constructor":2,"toString":3}';
    const rawBody = '{"__proto__": {"a": 1}, "constructor": 2, "toString": 3}';
    expectExplained(diagnose({ signed, rawBody }), 'body-reserialized', 'record-invalid');
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  test('a body of more than 256 KiB is used only as given', () => {
    const large = JSON.stringify({ text: 'a'.repeat(256 * 1024) });
    expect(codesOf(diagnose({ signed: large, rawBody: `${large}\n` }))).toEqual(['unexplained']);
    expect(codesOf(diagnose({ signed: large }))).toEqual(['record-invalid']);
  });

  test('a smaller body is examined', () => {
    const large = JSON.stringify({ text: 'a'.repeat(250 * 1024) });
    expect(codesOf(diagnose({ signed: large, rawBody: `${large}\n` }))).toEqual([
      'body-reserialized',
      'record-invalid',
    ]);
  });

  test('a body beyond the limit of hashed bytes is still tried with every secret', () => {
    const large = Buffer.alloc(40 * MEGABYTE, 0x61);
    const signingSecret = ['one', 'two', 'three', 'four'];
    const diagnosis = diagnose({ signed: large, key: 'four', options: { signingSecret } });
    expect(diagnosis).toMatchObject({ secretIndex: 3 });
  });
});

describe('hostile headers are only refused:', () => {
  const parsed = JSON.parse(`{"__proto__":{"x-signature":"${wrong}"}}`);

  test.each<[string, object]>([
    ['a prototype as a header', parsed],
    ['no prototype', Object.create(null)],
    ['nested lists', { 'x-signature': [[wrong]], 'x-timestamp': [[TIMESTAMP]] }],
    ['objects', { 'x-signature': { toString: () => wrong }, 'x-timestamp': {} }],
    ['long values', { 'x-signature': 'v1=,'.repeat(50_000), 'x-timestamp': '9'.repeat(200_000) }],
    ['many values', { 'x-signature': Array(5000).fill(wrong), 'x-timestamp': TIMESTAMP }],
    ['many parts', { 'x-signature': `${wrong},`.repeat(15), 'x-timestamp': ','.repeat(120) }],
    ['blanks', { 'x-signature': ' '.repeat(1000), 'x-timestamp': ' '.repeat(100) }],
    ['dates at the end of time', { 'x-signature': wrong, 'x-timestamp': '999999999999999' }],
  ])('%s', (_name, headers) => {
    const diagnosis = diagnose({ headers: headers as Record<string, unknown> });
    expect(diagnosis.verified).toBe(false);
    expect(diagnosis).not.toHaveProperty('secretIndex');
  });
});

test('a very long secret is used as it is', () => {
  const signingSecret = 'long'.repeat(MEGABYTE);
  const diagnosis = diagnose({
    key: signingSecret,
    rawBody: `${COMPACT}\n`,
    options: { signingSecret },
  });
  expectExplained(diagnosis, 'body-reserialized');
  expect(sign(COMPACT)).not.toBe(sign(COMPACT, { secret: signingSecret }));
});
