import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Credentials } from '../../src/client/credentials.js';
import { InvalidOptionError } from '../../src/errors.js';

function refusalOf(key: unknown, secret: unknown): InvalidOptionError {
  try {
    new Credentials(key, secret);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    return error as InvalidOptionError;
  }
  throw new Error('The credentials were accepted');
}

const bad: readonly [string, unknown, string][] = [
  ['nothing', undefined, 'must be a string that is not empty, but nothing came'],
  ['null', null, 'must be a string that is not empty, but null came'],
  ['an empty string', '', 'must be a string that is not empty, but an empty string came'],
  ['a blank string', ' \t', 'must be a string that is not empty, but a blank string came'],
  ['a no-break space', '\u00a0', 'must be a string that is not empty, but a blank string came'],
  ['a number', 42, 'must be a string that is not empty, but a number came'],
  ['an empty array', [], 'must be a string that is not empty, but an empty array came'],
  ['an array', ['hunter2'], 'must be a string that is not empty, but an array came'],
  ['bytes', Buffer.from('hunter2'), 'must be a string that is not empty, but an object came'],
  ['a leading space', ' hunter2', 'must not begin or end with white space'],
  ['a trailing line break', 'hunter2\n', 'must not begin or end with white space'],
  ['a trailing no-break space', 'hunter2\u00a0', 'must not begin or end with white space'],
  ['a byte order mark', '\ufeffhunter2', 'must not begin or end with white space'],
  ['a line break inside', 'hunter\r\n2', 'must not contain control characters'],
  ['a NUL inside', 'hunter\u00002', 'must not contain control characters'],
  ['a DEL inside', 'hunter\u007f2', 'must not contain control characters'],
  ['a C1 control inside', 'hunter\u00852', 'must not contain control characters'],
  [
    'half a surrogate pair',
    'hunter2\ud83d',
    'must not contain control characters or broken characters',
  ],
];

describe('credentials', () => {
  it.each(bad)('refuse %s for the key, naming apiKey', (_what, value, says) => {
    const error = refusalOf(value, 'good');
    expect(error.option).toBe('apiKey');
    expect(error.message).toContain(`apiKey ${says}`);
    expect(inspect(error, { showHidden: true })).not.toContain('hunter');
  });

  it.each(bad)('refuse %s for the secret, naming apiSecret', (_what, value, says) => {
    const error = refusalOf('good', value);
    expect(error.option).toBe('apiSecret');
    expect(error.message).toContain(`apiSecret ${says}`);
    expect(inspect(error, { showHidden: true })).not.toContain('hunter');
  });

  it('name the variable and fromEnv when they are missing', () => {
    expect(refusalOf(undefined, 'good').message).toContain(
      'pass it, or set MERCHANT_PAYMENTS_API_KEY and use PaymentClient.fromEnv()',
    );
    expect(refusalOf('good', undefined).message).toContain('set MERCHANT_PAYMENTS_API_SECRET');
  });

  it('refuse a colon in the key, where HTTP Basic would end it', () => {
    const error = refusalOf('key:hunter2', 'good');
    expect(error.option).toBe('apiKey');
    expect(error.message).toContain('apiKey must not contain a colon');
    expect(error.message).not.toContain('hunter2');
  });

  it('take a colon, a space and any script in the secret', () => {
    const { authorization } = new Credentials('Schlüssel', 'a:b c:ö€😀 \u00a0z');
    expect(authorization).toBe('Basic U2NobMO8c3NlbDphOmIgYzrDtuKCrPCfmIAgwqB6');
  });

  it('show nothing of themselves', () => {
    const credentials = new Credentials('the-key', 'hunter2');
    for (const text of [inspect(credentials, { showHidden: true }), JSON.stringify(credentials)]) {
      expect(text).not.toContain('hunter2');
      expect(text).not.toContain('the-key');
    }
  });
});

describe('redacting', () => {
  const secret = 'hünter/2+"two?';
  const key = 'long key';
  const credentials = new Credentials(key, secret);
  const pair = Buffer.from(`${key}:${secret}`);

  it.each([
    ['the secret', secret],
    ['the key', key],
    ['the secret in JSON', JSON.stringify(secret)],
    ['the secret in a URL', encodeURIComponent(secret)],
    ['the secret in base64', Buffer.from(secret).toString('base64')],
    ['the secret in base64url', Buffer.from(secret).toString('base64url')],
    ['the secret in hex', Buffer.from(secret).toString('hex')],
    ['the secret in capital hex', Buffer.from(secret).toString('hex').toUpperCase()],
    ['the header', credentials.authorization],
    ['the header in a URL', encodeURIComponent(credentials.authorization)],
    ['the header without padding', `Basic ${pair.toString('base64').replace(/=+$/, '')}`],
    ['the header in base64url', `Basic ${pair.toString('base64url')}`],
  ])('takes out %s, wherever and however often it stands', (_what, spelling) => {
    const text = credentials.redact(`before ${spelling} between ${spelling} after`);
    expect(text).not.toContain(spelling);
    expect(text).toMatch(/^before .*\[redacted\].* between .*\[redacted\].* after$/);
  });

  it('leaves a short key, which honest texts hold too', () => {
    expect(new Credentials('payment', secret).redact('no such payment')).toBe('no such payment');
    expect(new Credentials('payments', secret).redact('no payments')).toBe('no [redacted]');
  });

  it('takes out the body of the request, when there is one', () => {
    const body = '{"a":"b c"}';
    for (const echo of [body, JSON.stringify(body), encodeURIComponent(body), btoa(body)]) {
      expect(credentials.redact(`got ${echo}!`, body)).toMatch(/^got "?\[redacted\]"?!$/);
    }
    expect(credentials.redact('got nothing', '')).toBe('got nothing');
    expect(credentials.redact('got nothing')).toBe('got nothing');
  });
});
