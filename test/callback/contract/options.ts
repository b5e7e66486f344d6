import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallbackRequest } from '../../../src/callback/options.js';
import {
  NOW_SECONDS,
  now,
  OTHER_SECRET,
  optionErrorOf,
  refusalOf,
  SECRET,
  sampleRequest,
} from '../sample-callback.js';
import { type CommonOptions, type Implementation, sampleVerifier } from './implementation.js';

const wrong: [string, unknown, string][] = [
  ['toleranceSeconds', Number.NaN, 'must be a whole number of seconds from 0; received NaN'],
  ['toleranceSeconds', -1, 'must be a whole number of seconds from 0; received -1'],
  ['toleranceSeconds', '300', 'must be a whole number of seconds from 0; received a string'],
  ['signatureEncoding', 'latin1', "must be one of 'auto', 'hex', 'base64', 'base64url'; received"],
  ['timestampUnit', 'ms', "must be one of 'seconds', 'milliseconds'; received a string"],
  ['now', new Date(0), 'must be a function that returns epoch milliseconds; received an object'],
  ['recordSchema', { type: 'object' }, 'must be a Standard Schema validator'],
];

export function describeOptions(implementation: Implementation): void {
  const { createCallbackVerifier } = implementation;
  const verify = sampleVerifier(implementation);
  const construct = (options: unknown) => () => createCallbackVerifier(options as CommonOptions);

  describe('options', () => {
    it.each(wrong)('are refused at construction with %s %o', async (option, value, says) => {
      for (const given of [value, null]) {
        const error = await optionErrorOf(construct({ signingSecret: SECRET, [option]: given }));
        expect(error).toMatchObject({ code: 'INVALID_OPTION', option });
        expect(error.message).toContain(given === null ? 'received null' : `${option} ${says}`);
      }
    });

    it('may be undefined', async () => {
      const absent = Object.fromEntries(wrong.map(([option]) => [option, undefined]));
      await verify(sampleRequest(), { ...absent, now });
    });

    it.each([undefined, SECRET])('are refused when they are %o', async (options) => {
      const error = await optionErrorOf(construct(options));
      expect(error.option).toBe('options');
      expect(error.message).toContain('must be an object with signingSecret');
      expect(error.message).not.toContain(SECRET);
    });

    it.each([
      ['tolerance', 'use toleranceSeconds'],
      ['recordschema', 'use recordSchema'],
      ['xyz', 'the options are signingSecret, toleranceSeconds, '],
    ])('are refused with the unknown %s', async (option, remedy) => {
      const error = await optionErrorOf(construct({ signingSecret: SECRET, [option]: 1 }));
      expect(error.option).toBe(option);
      expect(error.message).toContain(`${option} is not a known option; ${remedy}`);
    });

    it('look the default clock up at each call: fake time may be set later', async () => {
      const run = createCallbackVerifier({ signingSecret: SECRET });
      await refusalOf(() => run(sampleRequest()));
      vi.useFakeTimers({ now: NOW_SECONDS * 1000, toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      expect((await run(sampleRequest())).secretIndex).toBe(0);
      vi.useRealTimers();
      expect((await refusalOf(() => run(sampleRequest()))).code).toBe('TIMESTAMP_OUTSIDE_WINDOW');
    });

    it('are checked by verifyCallback before the request is looked at', async () => {
      const run = async () =>
        implementation.verifyCallback(undefined as never, { signingSecret: '' });
      expect((await optionErrorOf(run)).option).toBe('signingSecret');
    });

    it('default to 300 s, any encoding, seconds', async () => {
      const at = (skew: number) => ({ timestamp: String(NOW_SECONDS - skew) });
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        await verify(sampleRequest({ ...at(300), encoding }));
      }
      expect((await refusalOf(() => verify(sampleRequest(at(301))))).skewSeconds).toBe(301);
    });

    it('have no effect when they are changed later', async () => {
      const secrets = [SECRET];
      const options: CommonOptions = { signingSecret: secrets, toleranceSeconds: 10, now };
      const run = createCallbackVerifier(options);

      secrets[0] = OTHER_SECRET;
      Object.assign(options, {
        signingSecret: OTHER_SECRET,
        toleranceSeconds: 0,
        signatureEncoding: 'base64',
        timestampUnit: 'milliseconds',
        now: () => Number.NaN,
      });

      const request = sampleRequest({ timestamp: String(NOW_SECONDS - 10) });
      expect((await run(request)).secretIndex).toBe(0);
    });
  });

  it.each([undefined, null, '{}'])('the request is refused when it is %o', async (request) => {
    const run = createCallbackVerifier({ signingSecret: SECRET, now });
    const error = await optionErrorOf(() => run(request as unknown as CallbackRequest));
    expect(error.option).toBe('request');
    expect(error.message).toContain('must be an object with rawBody and headers');
  });
}
