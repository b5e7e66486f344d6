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
  ['the text of a variable that is not set', '', 'the variable it is read from is set'],
  ['a space', ' ', 'must be a string that is not empty; received a blank string'],
  ['line feeds', '\r\n\t', 'must be a string that is not empty; received a blank string'],
  ['a space before', ` ${SECRET}`, 'must not begin or end with white space'],
  ['a space after', `${SECRET} `, 'must not begin or end with white space'],
  ['a line feed after', `${SECRET}\n`, 'trim it where it is read'],
  ['a no-break space after', `${SECRET}\u00a0`, 'must not begin or end with white space'],
  ['a byte order mark before', `\ufeff${SECRET}`, 'must not begin or end with white space'],
  ['text with half a surrogate pair', `${SECRET}\ud83d`, 'must not contain broken characters'],
  ['no bytes', new Uint8Array(), 'signingSecret must not be empty; received no bytes'],
  ['the text undefined', 'undefined', 'received the placeholder undefined'],
  ['the text null', 'null', 'received the placeholder null'],
  ['the text NaN', 'NaN', 'received the placeholder NaN'],
  ['the text of an object', '[object Object]', 'received the placeholder [object Object]'],
  ['changeme', 'changeme', 'received the placeholder changeme'],
  ['CHANGE_ME', 'CHANGE_ME', 'received the placeholder CHANGE_ME'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template that was not filled in
  ['a template of a shell', '${whsec}', 'received a template that was not filled in: check'],
  ['a template in double braces', '{{ whsec }}', 'a template that was not filled in'],
  ['a template in angle brackets', '<WHSEC_secret>', 'a template that was not filled in'],
  ['a zero byte', new Uint8Array(1), 'signingSecret must not be all zeros; received 1 zero bytes'],
  ['a KeyObject of zero bytes', createSecretKey(Buffer.alloc(32)), 'must not be all zeros'],
  ['zero bytes', Buffer.alloc(32), 'must not be all zeros; received 32 zero bytes'],
  ['an empty list', [], 'signingSecret must be one secret or more; received an empty array'],
  ['undefined', undefined, 'is missing; it must be'],
  ['null', null, 'received null'],
  ['a number', 7, 'received a number'],
  ['an object', {}, 'received an object'],
  ['an ArrayBuffer', new ArrayBuffer(8), 'received an object'],
  ['a DataView', new DataView(new ArrayBuffer(8)), 'received an object'],
  ['a Uint16Array', new Uint16Array(8), 'received an object'],
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

    it('is not a list in a list', async () => {
      expect((await optionErrorOf(construct([[SECRET]]))).option).toBe('signingSecret[0]');
    });

    it('is missing in options without it', async () => {
      const error = await optionErrorOf(() => createCallbackVerifier({} as CommonOptions));
      expect(error.option).toBe('signingSecret');
    });

    it.each<[string, string | Uint8Array]>([
      ['a character', 'k'],
      ['a text with a space inside', 'two words'],
      ['a text that begins as a placeholder', 'undefined-1'],
      ['a text with a template inside', 'a{{b}}c<d>'],
      ['bytes of which one is zero', Uint8Array.of(0, 1)],
      ['text beyond ASCII', 'clé-鍵-\u{1F511}'],
      ['200 characters', 'long'.repeat(50)],
      ['bytes', Uint8Array.of(1, 2, 3)],
      ['bytes that are blank as text', Buffer.from(' \n')],
      ['bytes that are not UTF-8', Uint8Array.of(0xff, 0, 0xfe)],
      ['bytes at an offset', Uint8Array.of(9, 9, 1, 2, 9).subarray(2, 4)],
    ])('may be %s', async (_what, secret) => {
      const options = { signingSecret: secret };
      await verify(sampleRequest({ secret }), options);
      expect((await refusalOf(() => verify(sampleRequest(), options))).code).toBe(
        'SIGNATURE_MISMATCH',
      );
    });

    it('as text means its UTF-8 bytes', async () => {
      const secret = 'clé-鍵';
      const options = { signingSecret: Buffer.from(secret) };
      await verify(sampleRequest({ secret }), options);
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
        const refused = {
          option: 'signingSecret',
          message:
            "signingSecret must be your own where NODE_ENV is production; received the mock's, with which anyone could sign: set MERCHANT_PAYMENTS_SIGNING_SECRET",
        };
        expect(await optionErrorOf(() => run(sampleRequest({ secret })))).toMatchObject(refused);
        expect(await optionErrorOf(() => verify(sampleRequest(), options))).toMatchObject(refused);
        vi.stubEnv('NODE_ENV', 'test');
        await run(sampleRequest({ secret }));
      },
    );

    it.each([undefined, '', 'development', 'test'])('is accepted with NODE_ENV=%s', async (env) => {
      vi.stubEnv('NODE_ENV', env);
      await verify(sampleRequest({ secret }), { signingSecret: secret });
    });

    it('is refused as a whole only: longer ones pass in production', async () => {
      vi.stubEnv('NODE_ENV', 'production');
      const longer = `${secret}_5f`;
      await verify(sampleRequest({ secret: longer }), { signingSecret: longer });
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

    it('say the first of two that are equal', async () => {
      const options = { signingSecret: [SECRET, SECRET] };
      expect((await verify(sampleRequest(), options)).secretIndex).toBe(0);
    });

    it('refuse what none of them signed, with their number', async () => {
      const request = sampleRequest({ secret: OTHER_SECRET });
      const error = await refusalOf(() => verify(request, { signingSecret: rotation }));
      expect(error.code).toBe('SIGNATURE_MISMATCH');
      expect(error.message).toContain('under any of the 3 signing secrets');
    });

    it('may be frozen', async () => {
      await verify(sampleRequest(), { signingSecret: Object.freeze([SECRET]) });
    });

    it('serve a rotation: new first, both for a while, then the old one is gone', async () => {
      const oldOnes = sampleRequest({ secret: 'old' });
      const newOnes = sampleRequest({ secret: 'new' });
      const both = { signingSecret: ['new', 'old'] };
      expect((await verify(oldOnes, both)).secretIndex).toBe(1);
      expect((await verify(newOnes, both)).secretIndex).toBe(0);
      const after = { signingSecret: ['new'] };
      expect((await refusalOf(() => verify(oldOnes, after))).code).toBe('SIGNATURE_MISMATCH');
      expect((await verify(newOnes, after)).secretIndex).toBe(0);
    });
  });
}
