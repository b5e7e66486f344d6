import { describe, expect, it } from 'vitest';
import { findErrorCode, isUnreadableAnswer } from '../../../src/client/transport/socket-errors.js';

const coded = (code: unknown, more: object = {}) =>
  Object.assign(new Error('m'), { code, ...more });
const wrapped = (cause: unknown) => new TypeError('fetch failed', { cause });

describe('the code of an error', () => {
  it.each<[string, unknown, string | undefined]>([
    ['its own', coded('ECONNRESET'), 'ECONNRESET'],
    ["its cause's", wrapped(coded('ECONNRESET')), 'ECONNRESET'],
    ["its first inner error's", new AggregateError([coded('ECONNREFUSED'), 1]), 'ECONNREFUSED'],
    ['its own before that of its cause', coded('A', { cause: coded('B') }), 'A'],
    ['of no error', undefined, undefined],
    ['of null', null, undefined],
    ['of a text', 'ECONNRESET', undefined],
    ['a number', coded(7), undefined],
    ['too deep', wrapped(wrapped(wrapped(wrapped(coded('DEEP'))))), undefined],
    ['just not too deep', wrapped(wrapped(wrapped(coded('DEEP')))), 'DEEP'],
    ['of an empty list', new AggregateError([]), undefined],
    [
      "of undici's parser",
      Object.assign(new Error('m'), { name: 'HTTPParserError' }),
      'HTTPParserError',
    ],
  ])('is %s', (_what, error, code) => {
    expect(findErrorCode(error)).toBe(code);
  });

  it('is found in causes that go round in circles', () => {
    const error = new Error('m');
    error.cause = error;
    expect(findErrorCode(error)).toBeUndefined();
  });
});

it.each([
  ['HPE_INVALID_CONSTANT', true],
  ['UND_ERR_HEADERS_OVERFLOW', true],
  ['HTTPParserError', true],
  ['ECONNRESET', false],
])('%s means that the answer was not HTTP: %s', (code, expected) => {
  expect(isUnreadableAnswer(wrapped(coded(code)))).toBe(expected);
});

it('an error without a code does not mean that the answer was not HTTP', () => {
  expect(isUnreadableAnswer(new Error('m'))).toBe(false);
});
