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

const address = 'an absolute http or https URL, such as https://payments.example';
const absolute = (length: number) =>
  `must be an absolute http or https URL, such as https://payments.example; received a string of ${length} characters`;
const withCredentials = 'must not hold a user name or password; pass them as apiKey and apiSecret';
const words = (text: string): string[] => text.trim().split(/\s+/);
const withQuery = 'must not have a query or fragment; end it with the path';
describe('a base URL', () => {
  it('may have a name in another script, or an IPv6 address in another spelling', () => {
    expect(baseUrl('https://bücher.example', 'target').origin).toBe(
      'https://xn--bcher-kva.example',
    );
    expect(baseUrl('http://[0:0:0:0:0:0:0:1]:80', 'target').origin).toBe('http://[::1]');
  });

  it.each<[unknown, string]>([
    [undefined, `is missing; it must be ${address}`],
    ['', `must be ${address}; received an empty string`],
    [42, `must be ${address}; received a number`],
    ['payments.example', absolute(16)],
    ['//payments.example', absolute(18)],
    ['ftp://payments.example', absolute(22)],
    ['payments.example:443', absolute(20)],
    ['https://hunter2@payments.example', withCredentials],
    ['https://:hunter2@payments.example', withCredentials],
    ['https://payments.example/?', withQuery],
    ['https://payments.example/#', withQuery],
  ])('is refused: %s', (value, says) => {
    expect(refusalOf(value, baseUrl)).toBe(`target ${says}`);
  });

  it.each([
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'https://payments.example:8443',
    'https://xn--zahlung-5za.example',
  ])('is taken: %s', (value) => {
    expect(baseUrl(value, 'target')).toEqual({ href: value, origin: value, pathPrefix: '' });
    expect(baseUrl(new URL(value), 'target').origin).toBe(value);
  });

  it.each([
    ['https://payments.example/', ''],
    ['https://payments.example/v2/', '/v2'],
    [' https://payments.example/v2\n', '/v2'],
    ['HTTPS://Payments.Example:443/v2', '/v2'],
    ['https://payments.example:/ä', '/%C3%A4'],
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
    ['https://hunter2@shop.example', 'must not hold a user name or password'],
    ['https://:hunter2@shop.example', 'must not hold a user name or password'],
  ])('is refused: %s', (value, says) => {
    expect(refusalOf(value, httpUrl)).toContain(says);
  });
});

describe('this machine', () => {
  it.each(
    words('127.0.0.1 127.255.255.255 ::1 [::1] ::FFFF:127.8.9.1 [::ffff:7f00:1] ::ffff:7fff:ffff'),
  )('has the address %s', (address) => {
    expect([isLoopbackAddress(address), isLoopback(address)]).toEqual([true, true]);
  });

  it.each(['localhost', 'LOCALHOST', 'LocalHost'])('has the name %s', (name) => {
    expect([isLoopbackAddress(name), isLoopback(name)]).toEqual([false, true]);
  });

  it.each([
    '',
    ...words(`
      payments.example 0.0.0.0 128.0.0.1 126.255.255.255 127.0.0.1.nip.io 127.0.0.256 127.0.0.1.1
      1127.0.0.1 localhost.evil.com app.localhost localhost. notlocalhost [::2]
      :: ::7f00:1 ::fffe:7f00:1 ::ffff:8000:1 ::ffff:7f0:1 ::ffff:10.0.0.1 1::ffff:7f00:1
    `),
  ])('is not %s', (host) => {
    expect([isLoopbackAddress(host), isLoopback(host)]).toEqual([false, false]);
  });

  it.each([
    ['http://LOCALHOST:8080', true],
    ['http://127.0.0.1.', true],
    ['http://2130706433', true],
    ['http://[0:0:0:0:0:0:0:1]', true],
    ['http://[0:0:0:0:0:ffff:127.0.0.1]', true],
    ['http://ⓛocalhost', true],
    ['http://localhost.', false],
    ['http://pay.localhost', false],
    ['http://127.0.0.1.nip.io', false],
    ['http://2147483649', false],
    ['http://localhost@evil.example', false],
    ['http://[::ffff:10.0.0.1]', false],
  ])('as a URL spells it: %s is %s', (url, expected) => {
    expect(isLoopback(new URL(url).hostname)).toBe(expected);
  });
});
