import { describe, expect, it } from 'vitest';
import { describeFailure } from '../../src/store/failure.js';

describe('what is kept of an error', () => {
  it('is its name, code and message', () => {
    const error = Object.assign(new RangeError('out of stock'), { code: 'E_STOCK' });
    expect(describeFailure(error)).toEqual({
      name: 'RangeError',
      code: 'E_STOCK',
      message: 'out of stock',
    });
    expect(describeFailure({ name: 'Thrown', code: 1205, message: 'no error' })).toEqual({
      name: 'Thrown',
      code: '1205',
      message: 'no error',
    });
  });

  it.each([
    ['a text', 'out of stock', 'out of stock'],
    ['null', null, 'null'],
    ['undefined', undefined, ''],
    ['an object with other types', { name: 7, code: {}, message: ['no text'] }, ''],
  ])('is the text of what is no error: %s', (_, thrown, message) => {
    expect(describeFailure(thrown)).toEqual({ name: 'Error', message });
  });

  it.each([true, null, ''])(
    'has no code where that is neither a text nor a number, or empty: %o',
    (code) => {
      expect(describeFailure({ code, message: 'm' })).toEqual({ name: 'Error', message: 'm' });
    },
  );

  it('is without what redact removes from each text', () => {
    const error = Object.assign(new Error('key secret'), { name: 'secret', code: 'E_secret' });
    const redact = (texts: readonly string[]) => texts.map((one) => one.replace('secret', '***'));
    expect(describeFailure(error, redact)).toEqual({
      name: '***',
      code: 'E_***',
      message: 'key ***',
    });
    expect(describeFailure(error, () => [])).toEqual({ name: 'Error', message: '' });
  });

  it('is redacted before it is truncated, so that no part of a secret is left at the end', () => {
    const error = new Error(`${'x'.repeat(495)}secret`);
    const redact = (texts: readonly string[]) => texts.map((one) => one.replace('secret', ''));
    expect(describeFailure(error, redact).message).toBe('x'.repeat(495));
  });

  it('has spaces instead of control characters and line breaks, and none at its ends', () => {
    const dirty = ' \u001b\u0000red\u2028\r\nline\u009bend\u0085 ';
    expect(describeFailure({ name: dirty, code: dirty, message: dirty })).toEqual({
      name: 'red line end',
      code: 'red line end',
      message: 'red line end',
    });
  });

  it('has no lone surrogates, which databases refuse', () => {
    expect(describeFailure(new Error('a\ud800b')).message).toBe('a b');
  });

  it.each([
    ['name', 64],
    ['code', 64],
    ['message', 500],
  ] as const)('has a %s of at most %i characters, with a mark where it is cut', (field, most) => {
    const keptOf = (text: string) => describeFailure({ [field]: text })[field];
    expect(keptOf('a'.repeat(most))).toBe('a'.repeat(most));
    expect(keptOf('a'.repeat(most + 1))).toBe(`${'a'.repeat(most - 1)}…`);
    // Never between the halves of a pair, and no pair before it is touched.
    const emoji = '\u{1f4b6}';
    expect(keptOf(`${emoji}${'a'.repeat(most - 4)}${emoji}bc`)).toBe(
      `${emoji}${'a'.repeat(most - 4)}…`,
    );
  });
});
