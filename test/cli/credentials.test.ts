import { expect, it } from 'vitest';
import { withoutCredentials } from '../../src/cli/environment.js';

const apiSecret = 's3cr3t-long-enough';
const credentialsOf = (apiKey: string) => ({ apiKey, apiSecret, signingSecret: undefined });

it('leaves a short key alone, which is often the beginning of references', () => {
  const answer = { merchantPaymentReference: 'acme-shop-1001', merchant: 'acme-shop' };
  expect(withoutCredentials(answer, credentialsOf('acme-shop'))).toEqual(answer);
  expect(withoutCredentials(answer, credentialsOf('merchant'))).toEqual(answer);
});

it.each([
  ['the beginning of the secret', `got ${apiSecret.slice(0, 13)}…`, 'got [redacted]…'],
  ['its end', `got …${apiSecret.slice(-13)}`, 'got …[redacted]'],
  ['base64 of it, cut', Buffer.from(apiSecret).toString('base64').slice(0, 15), '[redacted]'],
  ['the secret twice', `${apiSecret} ${apiSecret}`, '[redacted] [redacted]'],
  ['less than twelve characters', apiSecret.slice(0, 11), apiSecret.slice(0, 11)],
  ['nothing', '', ''],
])('removes %s', (_what, text, expected) => {
  const printed = withoutCredentials({ text }, credentialsOf('acme-shop'));
  expect(printed).toEqual({ text: expected });
});
