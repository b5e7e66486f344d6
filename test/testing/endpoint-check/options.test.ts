import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/errors.js';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import type { CheckCallbackEndpointOptions } from '../../../src/testing/endpoint-check/options.js';

const UNUSED_URL = 'http://127.0.0.1:1/callbacks';

// As from JavaScript, where anything can be passed.
const check = (url: unknown, options: unknown) =>
  checkCallbackEndpoint(url as string, options as CheckCallbackEndpointOptions);

describe('refuses', () => {
  it.each([
    ['signingSecret', { signingSecret: '' }],
    ['signingSecret', { signingSecret: ' planted' }],
    ['signatureEncoding', { signatureEncoding: 'auto' }],
    ['timestampUnit', { timestampUnit: 'minutes' }],
    ['toleranceSeconds', { toleranceSeconds: 1 }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['merchantPaymentReference', { merchantPaymentReference: ' ' }],
    ['countEffects', { countEffects: 1 }],
    ['countEffects', { countEffects: 'http://user:planted@127.0.0.1/' }],
    ['overtaking', { overtaking: 'yes' }],
    ['timeout', { timeout: 5_000 }],
  ])('%s in %o', async (option, options) => {
    const error = await check(UNUSED_URL, { signingSecret: 's', ...options }).catch((e) => e);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option });
    expect(error.message).toContain(option);
    expect(inspect(error)).not.toContain('planted');
  });

  it.each([
    undefined,
    '',
    '/callbacks',
    'ftp://127.0.0.1/',
    'http://user:planted@127.0.0.1/',
    new URL('https://planted@127.0.0.1/'),
    { href: 'http://127.0.0.1/' },
  ])('the URL %s', async (url) => {
    const error = await check(url, { signingSecret: 's' }).catch((e) => e);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'url' });
    expect(inspect(error)).not.toContain('planted');
  });

  it.each([undefined, null, 'secret'])('options that are %s', async (options) => {
    await expect(check(UNUSED_URL, options)).rejects.toMatchObject({ option: 'options' });
  });
});
