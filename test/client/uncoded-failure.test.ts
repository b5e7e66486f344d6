import { inspect } from 'node:util';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  apiSecret,
  authorization,
  createClient,
  failureOf,
  noRetries,
  order,
  type TransportOptions,
} from './raw-server.js';

const agent = (): Agent => {
  const made = new Agent();
  onTestFinished(() => made.destroy());
  return made;
};

class CardError extends RangeError {
  override name = 'CardError';
}

/** Errors of no socket: mistakes in a user's code, a runtime without codes. */
const uncoded: readonly [what: string, thrown: () => unknown, shown: string][] = [
  ['a TypeError', () => (undefined as unknown as Date).getTime(), 'TypeError: Cannot read'],
  ['an error of its own class', throwing(new CardError('no card')), 'CardError: no card'],
  [
    'an error with a cause',
    throwing(new TypeError('fetch failed', { cause: new Error('bad port') })),
    'TypeError: fetch failed: bad port',
  ],
  ['an error of more than one line', throwing(new Error('a\n\u001b[31mb')), 'Error: a [31mb'],
  [
    'an error whose name is no word',
    throwing(Object.assign(new Error('m'), { name: 'a b' })),
    'Error: m',
  ],
  [
    'an error whose code is no word',
    throwing(Object.assign(new TypeError('m'), { code: 'it is' })),
    'TypeError: m',
  ],
  ['a text', throwing('hunter2'), 'Error: unknown cause'],
  [
    'an error that quotes the secret',
    throwing(new Error(`Basic ${apiSecret}, "${authorization}"`)),
    'Error: Basic [redacted], "Basic [redacted]"',
  ],
  [
    'an error that quotes the body',
    throwing(new Error(JSON.stringify(order))),
    'Error: [withheld: repeats the request]',
  ],
  [
    'an error that quotes a header',
    throwing(new TypeError('"tenant-hunter2" is invalid')),
    'TypeError: "[redacted]" is invalid',
  ],
  ['a long error', throwing(new Error('x'.repeat(501))), `Error: ${'x'.repeat(500)}…`],
];

function throwing(reason: unknown) {
  return () => {
    throw reason;
  };
}

describe.each<[string, string, (thrown: () => unknown) => TransportOptions]>([
  ['fetch', 'before an answer', (thrown) => ({ fetch: async () => thrown() as Response })],
  [
    'an interceptor',
    'before it was sent',
    (thrown) => ({ dispatcher: agent().compose(() => () => thrown() as boolean) }),
  ],
])('after a failure of %s', (_where, when, toOptions) => {
  it.each(uncoded)(
    'without a code, by %s, the error shows its class and text',
    async (_, thrown, shown) => {
      const headers = { 'x-tenant': 'tenant-hunter2' };
      const client = createClient('https://payments.invalid', {
        ...toOptions(thrown),
        ...noRetries,
        headers,
      });
      const error = await failureOf(client.payments.create(order));
      expect(error).toMatchObject({ code: 'CONNECTION_FAILED' });
      expect(error.message).toContain(`failed ${when} (${shown}`);
      expect(String(error.cause)).toContain(shown);
      expect(error.cause).not.toHaveProperty('code');
      const printed = inspect(error, { showHidden: true });
      for (const secret of ['hunter2', apiSecret, authorization])
        expect(printed).not.toContain(secret);
    },
  );
});
