import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../src/errors.js';
import {
  baseUrl,
  httpUrl,
  isLoopback,
  isLoopbackAddress,
  parseHttpUrl,
} from '../../src/protocol/url.js';

function refusalOf(value: unknown, rule: (value: unknown, option: string) => unknown): string {
  try {
    rule(value, 'target');
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error).toMatchObject({ option: 'target', code: 'INVALID_OPTION' });
    expect((error as Error).message).not.toContain('hunter2');
    return (error as Error).message;
  }
  throw new Error('The URL was accepted');
}

const address = "the service's address, such as https://payments.example";
const absolute = (length: number) =>
  `must be an absolute http or https URL, such as https://payments.example; received a string of ${length} characters`;
const withCredentials = 'must not hold a user name or password; pass them as apiKey and apiSecret';
const withQuery = 'must not have a query or fragment; end it with the path';

describe('a base URL', () => {
  it.each<[unknown, string]>([
    [undefined, `is missing; it must be ${address}`],
    [null, `must be ${address}; received null`],
    ['', `must be ${address}; received an empty string`],
    ['  ', `must be ${address}; received a blank string`],
    [42, `must be ${address}; received a number`],
    [{ href: 'https://payments.example' }, `must be ${address}; received an object`],
    ['payments.example', absolute(16)],
    ['//payments.example', absolute(18)],
    ['https://', absolute(8)],
    ['https://payments.example:99999', absolute(30)],
    ['ftp://payments.example', absolute(22)],
    ['file:///etc/hosts', absolute(17)],
    ['payments.example:443', absolute(20)],
    ['https://hunter2@payments.example', withCredentials],
    ['https://user:hunter2@payments.example', withCredentials],
    ['https://:hunter2@payments.example', withCredentials],
    ['https://payments.example?key=hunter2', withQuery],
    ['https://payments.example/?', withQuery],
    ['https://payments.example#hunter2', withQuery],
    ['https://payments.example/#', withQuery],
    [new URL('https://payments.example/?a=1'), withQuery],
  ])('is refused: %s', (value, says) => {
    expect(refusalOf(value, baseUrl)).toBe(`target ${says}`);
  });

  it.each([
    'http://payments.example:8080',
    'http://app.localhost:8080',
    'http://127.0.0.1:8080',
    'http://127.80.90.100',
    'http://[::1]:8080',
    'https://payments.example',
    'https://payments.example:8443',
  ])('is taken: %s', (value) => {
    expect(baseUrl(value, 'target')).toEqual({ href: value, origin: value, pathPrefix: '' });
    expect(baseUrl(new URL(value), 'target').origin).toBe(value);
  });

  it.each([
    ['https://payments.example/', ''],
    ['https://payments.example/v2', '/v2'],
    ['https://payments.example/v2/', '/v2'],
    ['https://payments.example/a/b//', '/a/b'],
    ['https://payments.example/a b', '/a%20b'],
    ['https://payments.example/a/../b', '/b'],
  ])('keeps its path prefix without a slash at the end: %s', (value, pathPrefix) => {
    expect(baseUrl(value, 'target')).toEqual({
      href: `https://payments.example${pathPrefix}`,
      origin: 'https://payments.example',
      pathPrefix,
    });
  });
});

describe('an http URL', () => {
  it.each([
    ['http://127.0.0.1:3000/a?b=c#d', 'http://127.0.0.1:3000/a?b=c#d'],
    [new URL('https://shop.example/a b'), 'https://shop.example/a%20b'],
  ])('is taken: %s', (value, href) => {
    expect(httpUrl(value, 'target').href).toBe(href);
    expect(parseHttpUrl(value)?.href).toBe(href);
  });

  it.each<[unknown, string]>([
    [undefined, 'is missing; it must be'],
    ['shop.example/callbacks', 'received a string of 22 characters'],
    ['ftp://shop.example', 'received a string of 18 characters'],
    [{ href: 'https://shop.example' }, 'received an object'],
    ['https://hunter2@shop.example', 'must not hold a user name or password'],
    ['https://:hunter2@shop.example', 'must not hold a user name or password'],
  ])('is refused: %s', (value, says) => {
    expect(refusalOf(value, httpUrl)).toContain(says);
  });
});

describe('this machine', () => {
  it.each(['127.0.0.1', '127.80.90.100', '::1', '[::1]'])('has the address %s', (address) => {
    expect([isLoopbackAddress(address), isLoopback(address)]).toEqual([true, true]);
  });

  it.each(['localhost', 'app.localhost'])('has the name %s', (name) => {
    expect([isLoopbackAddress(name), isLoopback(name)]).toEqual([false, true]);
  });

  it.each([
    'payments.example',
    '10.0.0.1',
    '0.0.0.0',
    '128.0.0.1',
    '127.0.0.1.payments.example',
    'localhost.payments.example',
    'notlocalhost',
    '[::2]',
    '::2',
  ])('is not %s', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});
