import { createSecretKey } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import {
  now,
  OTHER_SECRET,
  optionErrorOf,
  refusalOf,
  SECRET,
  sampleRequest,
} from '../sample-callback.js';
import {
  type CommonOptions,
  type Implementation,
  type Secret,
  sampleVerifier,
} from './implementation.js';

const unusable: [string, unknown, string][] = [
  ['an empty string', '', 'must be a string that is not empty; received an empty string'],
  ['a line feed after', `${SECRET}\n`, 'trim it where it is read'],
  ['text with half a surrogate pair', `${SECRET}\ud83d`, 'must not contain broken characters'],
  ['no bytes', new Uint8Array(), 'signingSecret must not be empty; received no bytes'],
  ['the text undefined', 'undefined', 'received the placeholder undefined'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template that was not filled in
  ['a template of a shell', '${whsec}', 'received a template that was not filled in: check'],
  ['a zero byte', new Uint8Array(1), 'signingSecret must not be all zeros; received 1 zero bytes'],
  ['an empty list', [], 'signingSecret must be one secret or more; received an empty array'],
  ['undefined', undefined, 'is missing; it must be'],
  ['a number', 7, 'received a number'],
];

export function describeSecrets(implementation: Implementation): void {
  const { createCallbackVerifier } = implementation;
  const verify = sampleVerifier(implementation);
  const construct = (signingSecret: unknown) => () =>
    createCallbackVerifier({ signingSecret, now } as CommonOptions);

  describe('signingSecret', () => {
    it.each(unusable)(
      'is refused at construction when it is %s',
      async (_what, secret, message) => {
        const error = await optionErrorOf(construct(secret));
        expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'signingSecret' });
        expect(error.message).toContain(message);
        expect(error.message).not.toContain('whsec');
      },
    );

    it.each(unusable.filter(([, secret]) => !Array.isArray(secret)))(
      'is refused by its place in a list when it is %s',
      async (_what, secret) => {
        expect((await optionErrorOf(construct([secret]))).option).toBe('signingSecret[0]');
        const second = await optionErrorOf(construct([SECRET, secret]));
        expect(second.option).toBe('signingSecret[1]');
        expect(second.message).toMatch(/^signingSecret\[1\] (must|is missing)/);
        expect(second.message).not.toContain('whsec');
      },
    );

    it.each<[string, string | Uint8Array]>([
      ['a text with a space inside', 'two words'],
      ['bytes of which one is zero', Uint8Array.of(0, 1)],
      ['bytes that are not UTF-8', Uint8Array.of(0xff, 0, 0xfe)],
      ['bytes at an offset', Uint8Array.of(9, 9, 1, 2, 9).subarray(2, 4)],
    ])('may be %s', async (_what, secret) => {
      const options = { signingSecret: secret };
      await verify(sampleRequest({ secret }), options);
      expect((await refusalOf(() => verify(sampleRequest(), options))).code).toBe(
        'SIGNATURE_MISMATCH',
      );
    });

    it('may be bytes of another realm', async () => {
      const signingSecret = runInNewContext('Uint8Array.of(1, 2, 3)');
      await verify(sampleRequest({ secret: Uint8Array.of(1, 2, 3) }), { signingSecret });
    });

    it('is copied: wiping the bytes afterwards changes nothing', async () => {
      const secret = Buffer.from(SECRET);
      const run = createCallbackVerifier({ signingSecret: secret, now });
      secret.fill(0);
      expect((await run(sampleRequest())).secretIndex).toBe(0);
    });
  });

  describe('the signing secret that every copy of the mock has', () => {
    const secret = 'mock_signing_secret';
    const forms: [string, unknown][] = [
      ['text', secret],
      ['bytes', Buffer.from(secret)],
      ['a KeyObject', createSecretKey(secret, 'utf8')],
      ['the second of several', [SECRET, secret]],
    ];

    it.each(forms)(
      'is refused in production, as %s, when a callback comes',
      async (_how, given) => {
        const options = { signingSecret: given as Secret, now };
        const run = createCallbackVerifier(options);
        vi.stubEnv('NODE_ENV', 'production');
        const message = expect.stringContaining('must be your own where NODE_ENV is production');
        const refused = { option: 'signingSecret', message };
        expect(await optionErrorOf(() => run(sampleRequest({ secret })))).toMatchObject(refused);
        expect(await optionErrorOf(() => verify(sampleRequest(), options))).toMatchObject(refused);
        vi.stubEnv('NODE_ENV', 'test');
        await run(sampleRequest({ secret }));
      },
    );

    it.each([undefined, 'development'])('is accepted with NODE_ENV=%s', async (env) => {
      vi.stubEnv('NODE_ENV', env);
      await verify(sampleRequest({ secret }), { signingSecret: secret });
    });
  });

  describe('several signing secrets', () => {
    const rotation = ['new-secret', SECRET, Buffer.from('third')];

    it.each(rotation.map((secret, index) => ({ secret, index })))(
      'accept by the one at $index, and say which',
      async ({ secret, index }) => {
        const { secretIndex } = await verify(sampleRequest({ secret }), {
          signingSecret: rotation,
        });
        expect(secretIndex).toBe(index);
      },
    );

    it('refuse what none of them signed, with their number', async () => {
      const request = sampleRequest({ secret: OTHER_SECRET });
      const error = await refusalOf(() => verify(request, { signingSecret: rotation }));
      expect(error.code).toBe('SIGNATURE_MISMATCH');
      expect(error.message).toContain('under any of the 3 signing secrets');
    });
  });
}
