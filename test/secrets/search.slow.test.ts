import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { planted } from './planted.js';
import { createSearch, spellingsOf } from './search.js';

const find = createSearch(planted);
const around = (text: string) => `some words before ${text} and after`;

describe.each(Object.entries(planted))('the search finds %s', (name, secret) => {
  const bytes = Buffer.from(secret);
  const text = bytes.toString('utf8');
  const written: Record<string, string | Uint8Array> = {
    ...spellingsOf(secret),
    'its bytes': bytes,
    'UTF-16': Buffer.from(typeof secret === 'string' ? text : bytes.toString('latin1'), 'utf16le'),
    'UTF-16 of the other order': Buffer.from(
      typeof secret === 'string' ? text : bytes.toString('latin1'),
      'utf16le',
    ).swap16(),
    'a Buffer that was printed': inspect(bytes),
    'bytes that were printed': inspect(Uint8Array.from(bytes), { maxArrayLength: null }),
    'bytes in JSON': JSON.stringify([...bytes]),
    'a Buffer in JSON': JSON.stringify(bytes),
    'base64 within more': Buffer.from(`{"a":"${bytes.toString('latin1')}"}`, 'latin1').toString(
      'base64',
    ),
    'base64 within more, shifted': Buffer.from(
      `{"ab":"${bytes.toString('latin1')}"}`,
      'latin1',
    ).toString('base64'),
    'base64url within more, shifted again': Buffer.from(
      `{"abc":"${bytes.toString('latin1')}"}`,
      'latin1',
    ).toString('base64url'),
  };

  test.each(Object.entries(written))('as %s', (_spelling, shown) => {
    const leaks = find(typeof shown === 'string' ? around(shown) : shown);
    expect(leaks.map(({ secret }) => secret)).toContain(name);
  });

  test.each(Object.entries(spellingsOf(secret)))(
    'in any twelve characters of it as %s',
    (_, all) => {
      for (let at = 0; at + 12 <= all.length; at += 1) {
        expect(find(around(all.slice(at, at + 12)))).not.toEqual([]);
      }
    },
  );
});

test('the escaped spellings of a secret with special characters are none of its plain pieces', () => {
  const secret = planted['the API secret'].slice(3, 32);
  const { text = '', ...others } = spellingsOf(secret);
  const findText = createSearch({ secret: text });
  const plain = new Set(Array.from(text.slice(0, -11), (_, at) => text.slice(at, at + 12)));
  for (const name of ['JSON-escaped', 'JSON in JSON', 'URL-encoded', 'HTML-escaped']) {
    const spelled = others[name] ?? '';
    expect(Array.from(plain).some((piece) => spelled.includes(piece))).toBe(false);
    expect(findText(around(spelled))).toMatchObject([{ secret: 'secret' }]);
  }
});

test('nothing is found in what holds nothing', () => {
  const eleven = Object.values(planted).map((secret) => Buffer.from(secret).subarray(0, 11));
  for (const shown of [
    '',
    'merchant-payments: request failed',
    ...eleven.map((piece) => piece.toString('latin1').slice(0, 11)),
    JSON.stringify({ key: 'customer', secret: '[redacted]' }),
    Buffer.alloc(5_000),
  ]) {
    expect(find(shown)).toEqual([]);
  }
});
