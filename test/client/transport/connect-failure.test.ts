import { channel } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import {
  isConnectFailure,
  watchConnectErrors,
} from '../../../src/client/transport/socket-errors.js';

const coded = (code: unknown, more: object = {}) =>
  Object.assign(new Error('m'), { code, ...more });
const wrapped = (cause: unknown) => new TypeError('fetch failed', { cause });
const refused = (address: string, port: number | string) =>
  coded('ECONNREFUSED', { syscall: 'connect', address, port });
const noName = (hostname: string) => coded('ENOTFOUND', { syscall: 'getaddrinfo', hostname });
const bun = (code: string, path: unknown) => coded(code, { path, errno: 0 });

describe('nothing was sent to the service', () => {
  it.each<[string, unknown, string, boolean]>([
    ['its name has no address', wrapped(noName('pay.example')), 'https://pay.example', true],
    ['another name has none', wrapped(noName('audit.example')), 'https://pay.example', false],
    ['it is refused', wrapped(refused('10.0.0.1', 8080)), 'http://10.0.0.1:8080', true],
    ['it is refused over IPv6', wrapped(refused('::1', 8080)), 'http://[::1]:8080', true],
    ['its port in http', refused('127.0.0.1', 80), 'http://127.0.0.1', true],
    ['another port of its machine', refused('127.0.0.1', 9), 'http://127.0.0.1:8080', false],
    ['an address of this machine', refused('127.0.0.1', 8080), 'http://localhost:8080', true],
    ['another address than its', refused('10.0.0.1', 8080), 'http://localhost:8080', false],
    // The name may have this address, and so may another service's.
    ['an address, and it has a name', refused('10.0.0.1', 443), 'https://pay.example', false],
    [
      'a socket of a file',
      coded('ENOENT', { syscall: 'connect', address: '/s' }),
      'http://localhost',
      false,
    ],
    [
      'another reason not to connect',
      coded('EHOSTUNREACH', { syscall: 'connect', address: '10.0.0.1', port: 80 }),
      'http://10.0.0.1',
      true,
    ],
    [
      'all addresses refuse',
      wrapped(new AggregateError([refused('::1', 8080), refused('127.0.0.1', 8080)])),
      'http://localhost:8080',
      true,
    ],
    [
      'one of the errors is another',
      new AggregateError([refused('127.0.0.1', 8080), coded('ECONNRESET')]),
      'http://localhost:8080',
      false,
    ],
    [
      'Bun is refused',
      bun('ConnectionRefused', 'http://127.0.0.1:8080/api/payments'),
      'http://127.0.0.1:8080',
      true,
    ],
    [
      'Bun is refused elsewhere',
      bun('ConnectionRefused', 'http://127.0.0.1:9/'),
      'http://127.0.0.1:8080',
      false,
    ],
    [
      'a connect timeout, whose is not said',
      coded('UND_ERR_CONNECT_TIMEOUT'),
      'https://pay.example',
      false,
    ],
    ['a reset', coded('ECONNRESET', { syscall: 'read' }), 'https://pay.example', false],
    [
      'too deep',
      wrapped(wrapped(wrapped(wrapped(noName('pay.example'))))),
      'https://pay.example',
      false,
    ],
  ])('when %s: %#', (_what, error, origin, expected) => {
    expect(isConnectFailure(error, origin)).toBe(expected);
  });

  it('when undici publishes that this error is of connecting to it, whatever its fields say', () => {
    watchConnectErrors();
    watchConnectErrors();
    const publish = (error: unknown, host: string) =>
      channel('undici:client:connectError').publish({
        error,
        connectParams: { protocol: 'https:', host },
      });
    const timeout = coded('UND_ERR_CONNECT_TIMEOUT');
    publish(timeout, 'pay.example');
    expect(isConnectFailure(wrapped(timeout), 'https://pay.example')).toBe(true);
    expect(isConnectFailure(wrapped(timeout), 'https://pay.example:8443')).toBe(false);
    expect(isConnectFailure(wrapped(timeout), 'http://pay.example')).toBe(false);
    // Two hosts on one address.
    const other = refused('127.0.0.1', 443);
    publish(other, 'audit.localhost');
    expect(isConnectFailure(wrapped(other), 'https://127.0.0.1')).toBe(false);
    publish('no error', 'pay.example');
    publish(null, 'pay.example');
    expect(isConnectFailure('no error', 'https://pay.example')).toBe(false);
  });
});
