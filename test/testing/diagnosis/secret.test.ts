import { describe, expect, test } from 'vitest';
import { InvalidOptionError } from '../../../src/errors.js';
import type { CallbackFindingCode } from '../../../src/testing/index.js';
import { COMPACT, codesOf, diagnose, expectExplained, now, SECRET, sampleRecord } from './scene.js';

type Row = [
  name: string,
  given: string | Uint8Array,
  key: string | Uint8Array,
  ...codes: CallbackFindingCode[],
];

describe('a secret that was read wrongly is explained:', () => {
  test.each<Row>([
    ['a newline at its end', `${SECRET}\n`, SECRET, 'secret-edge-space'],
    ['blanks around it', ` ${SECRET}\t`, SECRET, 'secret-edge-space'],
    ['double quotes', `"${SECRET}"`, SECRET, 'secret-quoted'],
    ['single quotes', `'${SECRET}'`, SECRET, 'secret-quoted'],
    ['quotes and a newline', `"${SECRET}"\n`, SECRET, 'secret-edge-space', 'secret-quoted'],
  ])('%s', (_name, signingSecret, signer, ...codes) => {
    const diagnosis = diagnose({ key: signer, options: { signingSecret } });
    expectExplained(diagnosis, ...codes);
    expect(diagnosis.secretIndex).toBe(0);
  });
});

test('the same text is not a misreading of itself', () => {
  for (const signingSecret of ['1234', 'abcd', 'abcd==', '"']) {
    const options = { signingSecret, now: () => now() + 999_000 };
    const diagnosis = diagnose({ key: signingSecret, options });
    expect(codesOf(diagnosis)).toEqual(['timestamp-outside-window']);
  }
});

describe('a secret that did not make the signature', () => {
  test('is another one, when the callback is whole', () => {
    const diagnosis = diagnose({ key: 'whsec_of_another_account' });
    expect(diagnosis.verified).toBe(false);
    expect(diagnosis).not.toHaveProperty('secretIndex');
    expect(diagnosis).not.toHaveProperty('payment');
    expect(codesOf(diagnosis)).toEqual(['secret-other']);
    const [finding] = diagnosis.findings;
    expect(finding?.message).toContain('a secret other than the signing secret');
    expect(finding?.message).toContain('forged');
    expect(finding?.remedy).toContain('account and environment (test or live)');
  });
});

describe('white space around a secret', () => {
  test('is what verifyCallback throws, and is listed first', () => {
    const diagnosis = diagnose({
      rawBody: `${COMPACT}\n`,
      options: { signingSecret: `${SECRET}\n` },
    });
    expect(diagnosis.error).toEqual({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('signingSecret must not begin or end with white space'),
    });
    expectExplained(diagnosis, 'secret-edge-space', 'body-reserialized');
  });

  test('of one secret of several is named by its place', () => {
    const diagnosis = diagnose({ options: { signingSecret: ['other', `${SECRET} `] } });
    expect(diagnosis.error?.message).toMatch(/^signingSecret\[1\] /);
    expectExplained(diagnosis, 'secret-edge-space');
    expect(diagnosis.secretIndex).toBe(1);
  });

  test('of another secret than the one that matches is still what is refused', () => {
    const diagnosis = diagnose({ options: { signingSecret: ['other ', SECRET] } });
    expect(diagnosis).toMatchObject({ verified: false, secretIndex: 1, payment: sampleRecord() });
    expect(codesOf(diagnosis)).toEqual(['secret-edge-space']);
  });
});

test('quotes with nothing between stand for no empty key, with which anyone can sign', () => {
  const diagnosis = diagnose({ key: '', options: { signingSecret: '""' } });
  expect(codesOf(diagnosis)).toEqual(['secret-other']);
});

describe('several secrets', () => {
  test('verify by any of them, saying which', () => {
    const diagnosis = diagnose({ options: { signingSecret: ['one', 'two', SECRET] } });
    expect(diagnosis).toMatchObject({ verified: true, secretIndex: 2, findings: [] });
  });
});

describe('a secret that cannot be one is refused as an option:', () => {
  test.each([
    ['empty', ''],
    ['no list', []],
    ['nothing', undefined],
    ['an empty one in a list', [SECRET, '']],
  ])('%s', (_name, signingSecret) => {
    expect(() => diagnose({ options: { signingSecret: signingSecret as never } })).toThrow(
      InvalidOptionError,
    );
  });
});
