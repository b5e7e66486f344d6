import { describe, expect, it } from 'vitest';
import { Credentials } from '../../src/client/credentials.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { failureOf, order, refusalOf } from './raw-server.js';

const redactBy = (credentials: Credentials, text: string, body?: string) =>
  credentials.redactor.redactAll([text], body)[0] as string;

const refused = (apiKey: unknown, apiSecret: unknown) =>
  refusalOf({ baseUrl: 'https://payments.example', apiKey, apiSecret });

const text = 'must be a string that is not empty; received';
const bad: readonly [string, unknown, string][] = [
  ['nothing', undefined, 'is missing; it must be a string that is not empty'],
  ['an empty string', '', `${text} an empty string`],
  ['a no-break space', '\u00a0', `${text} a blank string`],
  ['an array', ['hunter2'], `${text} an array`],
  ['a leading space', ' hunter2', 'must not begin or end with white space'],
  ['a byte order mark', '\ufeffhunter2', 'must not begin or end with white space'],
  ['a line break inside', 'hunter\r\n2', 'must not contain control characters'],
  ['a C1 control inside', 'hunter\u00852', 'must not contain control characters'],
  ['the text undefined', 'undefined', 'received the placeholder undefined'],
  ['the text null', 'null', 'received the placeholder null'],
  ['the text NaN', 'NaN', 'received the placeholder NaN'],
  ['the text of an object', '[object Object]', 'received the placeholder'],
  ['changeme', 'changeme', 'received the placeholder changeme'],
  ['a template in double braces', '{{hunter2}}', 'received a template'],
  ['a template in angle brackets', '<hunter2>', 'received a template'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template that was not filled in
  ['a template of a shell', '${hunter2}', 'received a template'],
  ['half a surrogate pair', 'hunter2\ud83d', 'must not contain broken characters'],
];

describe('credentials', () => {
  it.each(bad)('refuse %s, naming the option', (_what, value, says) => {
    for (const [error, option] of [
      [refused(value, 'good'), 'apiKey'],
      [refused('good', value), 'apiSecret'],
    ] as const) {
      expect(error.option).toBe(option);
      expect(error.message.startsWith(`${option} `)).toBe(true);
      expect(error.message).toContain(says);
    }
  });

  it('name the variable and fromEnv when they are missing', () => {
    expect(refused(undefined, 'good').message).toContain(
      'pass it, or set MERCHANT_PAYMENTS_API_KEY and use PaymentClient.fromEnv()',
    );
    expect(refused('good', undefined).message).toContain('set MERCHANT_PAYMENTS_API_SECRET');
  });

  it.each(['https://payments.example', 'https://10.0.0.7', 'http://pay.localhost'])(
    'refuse the secret that every copy of the mock has for %s',
    async (baseUrl) => {
      const options = { baseUrl, apiKey: 'mock_api_key', dangerouslyAllowHttp: true };
      const apiSecret = 'mock_api_secret';
      const refused = {
        name: 'InvalidOptionError',
        option: 'apiSecret',
        message: expect.stringContaining('which is public'),
      };
      expect(() => new PaymentClient({ ...options, apiSecret })).toThrow(
        expect.objectContaining(refused),
      );
      const variables = { MERCHANT_PAYMENTS_API_SECRET: apiSecret };
      expect(() => PaymentClient.fromEnv(options, variables)).toThrow(
        expect.objectContaining(refused),
      );
      const client = new PaymentClient({ ...options, apiSecret: () => apiSecret });
      const failure = await failureOf(client.payments.create(order));
      expect(failure).toMatchObject({ ...refused, requestOutcome: 'not-sent' });
    },
  );

  it.each(['http://127.0.0.1:4242', 'http://localhost:4242', 'https://[::1]'])(
    'take the secret that every copy of the mock has for %s',
    (baseUrl) => {
      const options = { baseUrl, apiKey: 'mock_api_key', apiSecret: 'mock_api_secret' };
      expect(new PaymentClient(options)).toBeInstanceOf(PaymentClient);
    },
  );

  it('refuse a colon in the key, where HTTP Basic would end it', () => {
    const error = refused('key:hunter2', 'good');
    expect(error.option).toBe('apiKey');
    expect(error.message).toContain('apiKey must not contain a colon');
  });
});

describe('redacting', () => {
  const secret = 'hünter/2+"two?';
  const key = 'long key';
  const pair = Buffer.from(`${key}:${secret}`).toString('base64');
  const redact = (text: string, body?: string) =>
    redactBy(new Credentials(key, secret), text, body);

  it.each([
    ['the secret', secret],
    ['the key', key],
    ['the secret in a URL', encodeURIComponent(secret)],
    ['the secret in base64', Buffer.from(secret).toString('base64')],
    ['the pair', `${key}:${secret}`],
    ['the header', `Basic ${pair}`],
    ['the header without padding', `Basic ${pair.replaceAll('=', '')}`],
  ])('takes out %s, wherever and however often it stands', (_what, spelling) => {
    const text = redact(`before ${spelling} between ${spelling} after`);
    expect(text).not.toContain(spelling);
    expect(text).toMatch(/^before .*\[redacted\].* between .*\[redacted\].* after$/);
  });

  it('leaves a short key, which honest texts hold too', () => {
    expect(redactBy(new Credentials('payment', secret), 'no such payment')).toBe('no such payment');
    expect(redactBy(new Credentials('payments', secret), 'no payments')).toBe('no [redacted]');
  });

  it('takes out key and secret together, when they are short too', () => {
    const redacted = redactBy(new Credentials('key', 'secret'), 'got key:secret instead');
    expect(redacted).toBe('got [redacted] instead');
  });
});
