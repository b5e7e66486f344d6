import { describe, expect, it } from 'vitest';
import { parseBaseUrl } from '../../src/client/base-url.js';
import { InvalidOptionError } from '../../src/errors.js';

function refusalOf(value: unknown, allowHttp = false): InvalidOptionError {
  try {
    parseBaseUrl(value, allowHttp);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error).toMatchObject({ option: 'baseUrl', code: 'INVALID_OPTION' });
    expect((error as Error).message).not.toContain('hunter2');
    return error as InvalidOptionError;
  }
  throw new Error('The base URL was accepted');
}

const noAddress = (came: string) =>
  `must be the service's address, such as https://payments.example, but ${came} came; pass it, or set MERCHANT_PAYMENTS_BASE_URL and use PaymentClient.fromEnv()`;
const notAbsolute = (length: number) =>
  `must be an absolute URL, such as https://payments.example, but a string of ${length} characters that does not parse as one came; check its spelling and that it begins with https://`;
const withCredentials =
  'must not carry credentials, but one with a user name or password came; pass them as apiKey and apiSecret';
const withQuery =
  'must not carry a query or fragment, but one with "?" or "#" came; end it with the path';
const otherScheme = (scheme: string) =>
  `must be an https: URL, but one with ${scheme} came; check its beginning`;

describe('a base URL', () => {
  it.each<[unknown, string]>([
    [undefined, noAddress('nothing')],
    [null, noAddress('null')],
    ['', noAddress('an empty string')],
    ['  ', noAddress('a blank string')],
    [42, noAddress('a number')],
    [{ href: 'https://payments.example' }, noAddress('an object')],
    ['payments.example', notAbsolute(16)],
    ['//payments.example', notAbsolute(18)],
    ['https://', notAbsolute(8)],
    ['https://payments.example:99999', notAbsolute(30)],
    ['https://hunter2@payments.example', withCredentials],
    ['https://user:hunter2@payments.example', withCredentials],
    ['https://:hunter2@payments.example', withCredentials],
    ['https://payments.example?key=hunter2', withQuery],
    ['https://payments.example/?', withQuery],
    ['https://payments.example#hunter2', withQuery],
    ['https://payments.example/#', withQuery],
    [new URL('https://payments.example/?a=1'), withQuery],
    ['ftp://payments.example', otherScheme('ftp:')],
    ['file:///etc/hosts', otherScheme('file:')],
    ['payments.example:443', otherScheme('payments.example:')],
  ])('is refused: %s', (value, says) => {
    expect(refusalOf(value, true).message).toBe(`baseUrl ${says}`);
  });

  it.each([
    'http://payments.example',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://128.0.0.1',
    'http://127.0.0.1.payments.example',
    'http://localhost.payments.example',
    'http://notlocalhost',
    'http://[::2]',
  ])('is refused, but for dangerouslyAllowHttp: %s', (value) => {
    expect(refusalOf(value).message).toBe(
      'baseUrl must be an https: URL, but an http: URL to another machine came; http: would send the API secret in clear text; use https:, or set dangerouslyAllowHttp for a test network',
    );
    expect(parseBaseUrl(value, true).origin).toBe(value);
  });

  it.each([
    'http://localhost:8080',
    'http://app.localhost:8080',
    'http://127.0.0.1:8080',
    'http://127.80.90.100',
    'http://[::1]:8080',
    'https://payments.example',
    'https://payments.example:8443',
  ])('is taken: %s', (value) => {
    expect(parseBaseUrl(value, false)).toEqual({ href: value, origin: value, pathPrefix: '' });
    expect(parseBaseUrl(new URL(value), false).origin).toBe(value);
  });

  it.each([
    ['https://payments.example/', ''],
    ['https://payments.example/v2', '/v2'],
    ['https://payments.example/v2/', '/v2'],
    ['https://payments.example/a/b//', '/a/b'],
    ['https://payments.example/a b', '/a%20b'],
    ['https://payments.example/a/../b', '/b'],
  ])('keeps its path prefix without a slash at the end: %s', (value, pathPrefix) => {
    expect(parseBaseUrl(value, false)).toEqual({
      href: `https://payments.example${pathPrefix}`,
      origin: 'https://payments.example',
      pathPrefix,
    });
  });
});
