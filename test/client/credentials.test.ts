import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Credentials, credential } from '../../src/client/credentials.js';
import { PaymentClient } from '../../src/client/payment-client.js';
import { InvalidOptionError } from '../../src/errors.js';
import { failureOf, order } from './raw-server.js';

const redactBy = (credentials: Credentials, text: string, body?: string) =>
  credentials.redactor.redactAll([text], body)[0] as string;

function refusalOf(key: unknown, secret: unknown): InvalidOptionError {
  try {
    credential(key, 'apiKey');
    credential(secret, 'apiSecret');
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    return error as InvalidOptionError;
  }
  throw new Error('The credentials were accepted');
}

const bad: readonly [string, unknown, string][] = [
  ['nothing', undefined, 'is missing; it must be a string that is not empty'],
  ['null', null, 'must be a string that is not empty; received null'],
  ['an empty string', '', 'must be a string that is not empty; received an empty string'],
  ['a blank string', ' \t', 'must be a string that is not empty; received a blank string'],
  ['a no-break space', '\u00a0', 'must be a string that is not empty; received a blank string'],
  ['a number', 42, 'must be a string that is not empty; received a number'],
  ['an empty array', [], 'must be a string that is not empty; received an empty array'],
  ['an array', ['hunter2'], 'must be a string that is not empty; received an array'],
  ['bytes', Buffer.from('hunter2'), 'must be a string that is not empty; received an object'],
  ['a leading space', ' hunter2', 'must not begin or end with white space'],
  ['a trailing line break', 'hunter2\n', 'must not begin or end with white space'],
  ['a trailing no-break space', 'hunter2\u00a0', 'must not begin or end with white space'],
  ['a byte order mark', '\ufeffhunter2', 'must not begin or end with white space'],
  ['a line break inside', 'hunter\r\n2', 'must not contain control characters'],
  ['a NUL inside', 'hunter\u00002', 'must not contain control characters'],
  ['a DEL inside', 'hunter\u007f2', 'must not contain control characters'],
  ['a C1 control inside', 'hunter\u00852', 'must not contain control characters'],
  [
    'the text undefined',
    'undefined',
    'must be the value itself; received the placeholder undefined',
  ],
  ['the text null', 'null', 'must be the value itself; received the placeholder null'],
  ['the text NaN', 'NaN', 'must be the value itself; received the placeholder NaN'],
  [
    'the text of an object',
    '[object Object]',
    'must be the value itself; received the placeholder',
  ],
  ['changeme', 'changeme', 'must be the value itself; received the placeholder changeme'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template that was not filled in
  ['a template of a shell', '${hunter2}', 'must be the value itself; received a template'],
  ['a template in double braces', '{{hunter2}}', 'must be the value itself; received a template'],
  ['a template in angle brackets', '<hunter2>', 'must be the value itself; received a template'],
  ['half a surrogate pair', 'hunter2\ud83d', 'must not contain broken characters'],
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

  it.each(['https://payments.example', 'https://10.0.0.7', 'http://pay.localhost'])(
    'refuse the secret that every copy of the mock has for %s',
    async (baseUrl) => {
      const options = { baseUrl, apiKey: 'mock_api_key', dangerouslyAllowHttp: true };
      const apiSecret = 'mock_api_secret';
      const refused = {
        name: 'InvalidOptionError',
        option: 'apiSecret',
        message:
          "apiSecret must be your account's where baseUrl is another machine; received the mock's, which is public: set MERCHANT_PAYMENTS_API_SECRET, or give the mock its own",
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
    const error = refusalOf('key:hunter2', 'good');
    expect(error.option).toBe('apiKey');
    expect(error.message).toContain('apiKey must not contain a colon');
    expect(error.message).not.toContain('hunter2');
  });

  it('take a colon, a space and any script in the secret', () => {
    const secret = 'a:b c:ö€😀 \u00a0z';
    expect(credential(secret, 'apiSecret')).toBe(secret);
    const { authorization } = new Credentials('Schlüssel', secret);
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
    ['the header in a URL', encodeURIComponent(`Basic ${pair}`)],
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

  it('withholds a text that repeats the body of the request, when there is one', () => {
    const body = '{"note":"ring twice, please"}';
    expect(redact(`got ${body}!`, body)).toBe('[withheld: repeats the request]');
    expect(redact(`got ${secret}, ring twice`, body)).toBe('got [redacted], ring twice');
    expect(redact(`got ${body}!`, '')).toBe(`got ${body}!`);
    expect(redact(`got ${body}!`)).toBe(`got ${body}!`);
  });
});

type Spelling = (text: string) => string;
const base64: Spelling = (text) => Buffer.from(text).toString('base64');
const unpadded: Spelling = (text) => text.replaceAll('=', '');

const spellings: readonly [string, Spelling][] = [
  ['as it is', (text) => text],
  ['in a URL', encodeURIComponent],
  ['in base64', base64],
  ['in base64 without padding', (text) => unpadded(base64(text))],
];

describe('a secret is taken out', () => {
  // Each spelling differs from each other in nearly every twelve characters, so that no other one
  // would take it out whole.
  const secret = 'ÿ\\ b<~>a+\'~k`/&k"ö&a<ö?kö';
  const redact = (text: string, apiSecret: string) =>
    redactBy(new Credentials('k', apiSecret), text);

  it.each(spellings)('%s, in whole', (_how, spell) => {
    expect(redact(`got|${spell(secret)}|instead`, secret)).toBe('got|[redacted]|instead');
  });

  it.each(spellings)('%s, when it is short', (_how, spell) => {
    for (const short of ['ü?>"\\\'', '~ &<']) {
      expect(redact(`got|${spell(short)}|instead`, short)).toBe('got|[redacted]|instead');
    }
  });
});
