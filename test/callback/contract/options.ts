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

const notFunctions: [string, unknown, string][] = [
  ['a number', 7, 'a number'],
  ['a Date', new Date(0), 'an object'],
  ['null', null, 'null'],
];

const wrong: { option: string; cases: [string, unknown, string][]; rule: string }[] = [
  {
    option: 'toleranceSeconds',
    rule: 'must be a whole number of seconds from 0',
    cases: [
      ['NaN', Number.NaN, 'NaN'],
      ['-1', -1, '-1'],
      ['a half', 0.5, '0.5'],
      ['Infinity', Number.POSITIVE_INFINITY, 'Infinity'],
      ['beyond the safe integers', 2 ** 53, '9007199254740992'],
      ['a numeric string', '300', 'a string of 3 characters'],
      ['null', null, 'null'],
      ['a bigint', 300n, 'a bigint'],
      ['false', false, 'a boolean'],
    ],
  },
  {
    option: 'signatureEncoding',
    rule: "must be one of 'auto', 'hex', 'base64', 'base64url'",
    cases: [
      ['another encoding', 'latin1', 'a string of 6 characters'],
      ['in capitals', 'HEX', 'a string of 3 characters'],
      ['empty', '', 'an empty string'],
      ['a list', ['hex'], 'an array'],
      ['null', null, 'null'],
    ],
  },
  {
    option: 'timestampUnit',
    rule: "must be one of 'seconds', 'milliseconds'",
    cases: [
      ['short', 'ms', 'a string of 2 characters'],
      ['a number', 1000, 'a number'],
      ['null', null, 'null'],
    ],
  },
  {
    option: 'now',
    rule: 'must be a function that returns epoch milliseconds',
    cases: notFunctions,
  },
  {
    option: 'recordSchema',
    rule: 'must be a Standard Schema validator (zod, valibot, arktype, …)',
    cases: [
      ['null', null, 'null'],
      ['an object', {}, 'an object'],
      ['a function', () => true, 'a function'],
      ['a JSON schema', { type: 'object' }, 'an object'],
      ['a standard property without validate', { '~standard': { version: 1 } }, 'an object'],
      ['a string', 'schema', 'a string of 6 characters'],
    ],
  },
];

export function describeOptions(implementation: Implementation): void {
  const { createCallbackVerifier } = implementation;
  const verify = sampleVerifier(implementation);
  const construct = (options: unknown) => () => createCallbackVerifier(options as CommonOptions);

  describe('options', () => {
    describe.each(wrong)('$option', ({ option, rule, cases }) => {
      it.each(cases)('is refused at construction when it is %s', async (_what, value, received) => {
        const error = await optionErrorOf(construct({ signingSecret: SECRET, [option]: value }));
        expect(error).toMatchObject({ name: 'InvalidOptionError', code: 'INVALID_OPTION', option });
        expect(error.message).toBe(`${option} ${rule}; received ${received}`);
      });

      it('may be undefined', async () => {
        await verify(sampleRequest(), {
          [option]: undefined,
          ...(option === 'now' ? { now } : {}),
        });
      });
    });

    it.each([
      ['undefined', undefined, 'nothing'],
      ['null', null, 'null'],
      ['the secret alone', SECRET, 'a string of 14 characters'],
      ['a function', () => SECRET, 'a function'],
    ])('are refused when they are %s', async (_what, options, received) => {
      const error = await optionErrorOf(construct(options));
      expect(error.option).toBe('options');
      expect(error.message).toBe(
        options === undefined
          ? 'options is missing; it must be an object with signingSecret'
          : `options must be an object with signingSecret; received ${received}`,
      );
    });

    it.each([
      ['tolerance', 'use toleranceSeconds'],
      ['recordschema', 'use recordSchema'],
      [
        'xyz',
        'the options are signingSecret, toleranceSeconds, signatureEncoding, timestampUnit, now, receivedAt, recordSchema',
      ],
    ])('are refused with the unknown %s', async (option, remedy) => {
      const error = await optionErrorOf(construct({ signingSecret: SECRET, [option]: 1 }));
      expect(error.option).toBe(option);
      expect(error.message).toBe(`${option} is not a known option; ${remedy}`);
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

    it('are never written to', async () => {
      const options = Object.freeze({
        signingSecret: Object.freeze([SECRET]),
        toleranceSeconds: undefined,
        now,
      });
      await createCallbackVerifier(options as CommonOptions)(sampleRequest());
      const open: CommonOptions = { signingSecret: SECRET, now };
      await createCallbackVerifier(open)(sampleRequest());
      expect(open).toEqual({ signingSecret: SECRET, now });
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

    it('do not matter between verifications: a verifier keeps no state', async () => {
      const run = createCallbackVerifier({ signingSecret: SECRET, now });
      const first = await run(sampleRequest());
      await refusalOf(() => run({ ...sampleRequest(), rawBody: '{}' }));
      expect(await run(sampleRequest())).toEqual(first);
      const many = Array.from({ length: 20 }, async (_, index) =>
        run(sampleRequest({ body: JSON.stringify({ ...first.payment, status: `s${index}` }) })),
      );
      expect((await Promise.all(many)).map(({ payment }) => payment.status)).toEqual(
        many.map((_, index) => `s${index}`),
      );
    });
  });

  describe('the request', () => {
    it.each([
      ['undefined', undefined, 'nothing'],
      ['null', null, 'null'],
      ['the body alone', '{}', 'a string of 2 characters'],
    ])('is refused when it is %s', async (_what, request, received) => {
      const run = createCallbackVerifier({ signingSecret: SECRET, now });
      const error = await optionErrorOf(() => run(request as unknown as CallbackRequest));
      expect(error.option).toBe('request');
      expect(error.message).toBe(
        request === undefined
          ? 'request is missing; it must be an object with rawBody and headers'
          : `request must be an object with rawBody and headers; received ${received}`,
      );
    });

    it('is not written to', async () => {
      const { rawBody, headers } = sampleRequest();
      await verify(Object.freeze({ rawBody, headers: Object.freeze(headers) }));
    });
  });
}
