import { expect, it } from 'vitest';
import { withoutCredentials } from '../../src/cli/environment.js';

const apiSecret = 's3cr3t-long-enough';
const envOf = (apiKey: string) => ({
  MERCHANT_PAYMENTS_API_KEY: apiKey,
  MERCHANT_PAYMENTS_API_SECRET: apiSecret,
});

it('leaves a short key alone, which is often the beginning of references', () => {
  const answer = { merchantPaymentReference: 'acme-shop-1001', merchant: 'acme-shop' };
  expect(withoutCredentials(answer, envOf('acme-shop'))).toEqual(answer);
  expect(withoutCredentials(answer, envOf('merchant'))).toEqual(answer);
});

it.each([
  ['the beginning of the secret', `got ${apiSecret.slice(0, 13)}…`, 'got [redacted]…'],
  ['its end', `got …${apiSecret.slice(-13)}`, 'got …[redacted]'],
  ['base64 of it, cut', Buffer.from(apiSecret).toString('base64').slice(0, 15), '[redacted]'],
  ['the secret twice', `${apiSecret} ${apiSecret}`, '[redacted] [redacted]'],
  ['less than twelve characters', apiSecret.slice(0, 11), apiSecret.slice(0, 11)],
  ['nothing', '', ''],
])('removes %s', (_what, text, expected) => {
  const printed = withoutCredentials({ text }, envOf('acme-shop'));
  expect(printed).toEqual({ text: expected });
});
