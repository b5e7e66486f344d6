import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CurrentVerifier, createVerifierSource } from '../../src/receiver/verifier-source.js';

type Secrets = string | Uint8Array | readonly (string | Uint8Array)[];

/** What a verifier was made of, each time one was. */
function sourceOf(signingSecret: () => Secrets | Promise<Secrets>) {
  const made: unknown[] = [];
  const getVerifier = createVerifierSource(
    signingSecret,
    (secrets) => {
      made.push(secrets);
      return (() => undefined) as unknown as CurrentVerifier['verify'];
    },
    unexpected,
  );
  return { made, getVerifier };
}

function unexpected(message: string): void {
  throw new Error(message);
}

describe('the verifier of the secret in the environment', () => {
  const create = () => {
    const made: unknown[] = [];
    const warnings: string[] = [];
    const getVerifier = createVerifierSource(
      undefined,
      (secret) => {
        made.push(secret);
        return (() => undefined) as unknown as CurrentVerifier['verify'];
      },
      (message) => warnings.push(message),
    );
    return { made, getVerifier, warnings };
  };
  const VARIABLE = 'MERCHANT_PAYMENTS_SIGNING_SECRET';

  it('is created at the first callback, and once', () => {
    const { made, getVerifier, warnings } = create();
    expect(warnings).toHaveLength(1);
    vi.stubEnv(VARIABLE, 'one');
    expect(create().warnings).toEqual([]);
    const first = getVerifier();
    vi.stubEnv(VARIABLE, 'two');
    expect(getVerifier()).toBe(first);
    expect(made).toEqual(['one']);
  });

  it.each([
    ['undefined', 'MERCHANT_PAYMENTS_SIGNING_SECRET must be the value itself'],
    [' secret', 'MERCHANT_PAYMENTS_SIGNING_SECRET must not begin or end with white space'],
  ])('names the variable for %j', (value, message) => {
    vi.stubEnv(VARIABLE, value);
    const { getVerifier } = create();
    expect(getVerifier).toThrow(message);
  });

  it.each([
    ['without process', undefined],
    ['without variables', {}],
    [
      'that forbids it',
      {
        get env() {
          throw new Error('NotCapable');
        },
      },
    ],
  ])('says so in a runtime %s', (_name, process) => {
    vi.stubGlobal('process', process);
    onTestFinished(() => void vi.unstubAllGlobals());
    const { getVerifier } = create();
    expect(getVerifier).toThrow(`set ${VARIABLE} in the environment, or pass signingSecret`);
  });
});

describe('the verifier of a secret that is asked for', () => {
  it('is created again only when the secret has changed', async () => {
    let secrets: Secrets = ['one', 'two'];
    const { made, getVerifier } = sourceOf(() => secrets);
    const first = await getVerifier();
    secrets = ['one', 'two'];
    expect(await getVerifier()).toBe(first);
    expect(made).toEqual([['one', 'two']]);

    for (const changed of [['one'], ['one', 'three'], ['one', 'two'], ['two', 'one'], []]) {
      secrets = changed;
      await getVerifier();
      expect(made.at(-1)).toEqual(changed);
    }
    expect(made).toHaveLength(6);
  });

  it('is created again for bytes, since the same array may have new ones', async () => {
    const bytes = Uint8Array.of(1);
    const { made, getVerifier } = sourceOf(() => bytes);
    await getVerifier();
    await getVerifier();
    expect(made).toHaveLength(2);
  });
});
