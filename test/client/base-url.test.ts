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

describe('a base URL', () => {
  it.each<[unknown, string]>([
    [
      undefined,
      "must be the service's address, such as https://payments.example, but nothing came",
    ],
    [null, 'but null came'],
    ['', 'but an empty string came'],
    ['  ', 'but a blank string came'],
    [42, 'but a number came'],
    [{ href: 'https://payments.example' }, 'but an object came'],
    ['payments.example', 'must be an absolute URL'],
    ['//payments.example', 'must be an absolute URL'],
    ['https://', 'must be an absolute URL'],
    ['https://payments.example:99999', 'must be an absolute URL'],
    ['https://hunter2@payments.example', 'must not carry credentials'],
    ['https://user:hunter2@payments.example', 'must not carry credentials'],
    ['https://:hunter2@payments.example', 'must not carry credentials'],
    ['https://payments.example?key=hunter2', 'must not carry a query or fragment'],
    ['https://payments.example/?', 'must not carry a query or fragment'],
    ['https://payments.example#hunter2', 'must not carry a query or fragment'],
    ['https://payments.example/#', 'must not carry a query or fragment'],
    [new URL('https://payments.example/?a=1'), 'must not carry a query or fragment'],
    ['ftp://payments.example', 'must be an https: URL, but one with ftp: came'],
    ['file:///etc/hosts', 'must be an https: URL, but one with file: came'],
    ['payments.example:443', 'must be an https: URL, but one with payments.example: came'],
  ])('is refused: %s', (value, says) => {
    expect(refusalOf(value, true).message).toContain(says);
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
    const { message } = refusalOf(value);
    expect(message).toContain('an http: URL to another machine came');
    expect(message).toContain('or set dangerouslyAllowHttp');
    expect(parseBaseUrl(value, true).origin).toBe(value);
  });

  it.each([
    'http://localhost:8080',
    'http://app.localhost:8080',
    'http://127.0.0.1:8080',
    'http://127.8.9.10',
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
