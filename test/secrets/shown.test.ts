import { createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { ApiError, InvalidCredentialsError, ResponseError } from '../../src/errors.js';
import { apiSecret, planted } from './planted.js';
import { createSearch } from './search.js';
import { shownBy } from './shown.js';

const find = createSearch(planted);

class Base {
  get inherited(): string {
    return apiSecret;
  }
}
class Derived extends Base {}
class Statics extends Base {
  static secret = apiSecret;
}

const hidden = (key: PropertyKey, value: unknown) =>
  Object.defineProperty({}, key, { value, enumerable: false });

const hiders: Record<string, unknown> = {
  'a text': apiSecret,
  'a field': { apiSecret },
  'a field far below': { a: { b: { c: [{ d: new Map([['e', new Set([apiSecret])]]) }] } } },
  'a hidden field': hidden('secret', apiSecret),
  'a field of a symbol': hidden(Symbol('secret'), apiSecret),
  'the name of a field': { [apiSecret]: 1 },
  'the name of a symbol': { [Symbol(apiSecret)]: 1 },
  'a getter of a prototype': new Derived(),
  'a static field': Statics,
  'a field of a function': Object.assign(() => undefined, { apiSecret }),
  'a custom inspect': { [Symbol.for('nodejs.util.inspect.custom')]: () => apiSecret },
  'what a custom inspect hides': {
    apiSecret,
    [Symbol.for('nodejs.util.inspect.custom')]: () => 'nothing',
  },
  'a toJSON': { toJSON: () => ({ apiSecret }) },
  'a toString': { toString: () => apiSecret },
  'the message of an error': new Error(`refused ${apiSecret}`),
  'the stack of an error': Object.assign(new Error('m'), { stack: `at ${apiSecret}` }),
  'the cause of a cause': new Error('m', { cause: new Error('m', { cause: apiSecret }) }),
  'an error among several': new AggregateError([new Error(apiSecret)], 'm'),
  'a Buffer': { bytes: Buffer.from(apiSecret) },
  'bytes of a larger buffer': Buffer.from(`.${apiSecret}.`).subarray(1, -1),
  'an ArrayBuffer': { bytes: new TextEncoder().encode(apiSecret).buffer },
  'a DataView': new DataView(new TextEncoder().encode(apiSecret).buffer),
  'a key': { key: createSecretKey(apiSecret, 'utf8') },
  headers: new Headers({ authorization: Buffer.from(apiSecret).toString('base64') }),
  'a URL': new URL(`https://example.com/?secret=${encodeURIComponent(apiSecret)}`),
  'a long array': Array.from({ length: 500 }, (_, index) => (index === 499 ? apiSecret : '')),
};

test.each(Object.entries(hiders))('it is seen in %s', (_where, value) => {
  const leaks = shownBy(value).flatMap(({ text }) => find(text));
  expect(leaks[0]).toMatchObject({ secret: expect.stringMatching(/^the API secret$/) });
});

test('the answer of the service is not, unless it is asked for by name', () => {
  const response = { status: 422, headers: {}, body: apiSecret, text: apiSecret, attempts: 1 };
  for (const error of [
    new ApiError('m', { response, requestOutcome: 'rejected' }),
    new InvalidCredentialsError('m', { response, requestOutcome: 'rejected' }),
    new ResponseError('m', { response, requestOutcome: 'accepted' }),
  ]) {
    expect(shownBy(error).flatMap(({ text }) => find(text))).toEqual([]);
    expect(error.response).toBe(response);
    expect(find(String(error.response?.body))).toHaveLength(1);
  }
});

test('a field of that name on anything else is', () => {
  const named = [{ response: apiSecret }, hidden('response', apiSecret)];
  for (const value of named)
    expect(shownBy(value).flatMap(({ text }) => find(text))).not.toEqual([]);
});

test('what is in private fields and closures is not', () => {
  class Private {
    readonly #secret = apiSecret;
    reveals = () => this.#secret.length;
  }
  expect(shownBy(new Private()).flatMap(({ text }) => find(text))).toEqual([]);
});
