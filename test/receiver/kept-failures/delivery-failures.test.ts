import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  failurePolicyOf,
  findKeptChange,
  keepsFailures,
} from '../../../src/receiver/kept-failures.js';
import { memoryStore } from '../../../src/store/memory.js';
import { createScene, post } from '../scene.js';

const SECRET_TEXT = 'whsec-8c1f0a5d77b2';

function describeWith(secrets: readonly unknown[] | undefined, error: Error) {
  const policy = failurePolicyOf(
    { store: memoryStore() },
    { text: '{}', secrets, isReplay: false },
  );
  return JSON.stringify(policy?.describeError?.(error));
}

describe('the text of a kept error', () => {
  const bytes = Buffer.from(SECRET_TEXT);

  it.each([
    ['a text', SECRET_TEXT],
    ['bytes', bytes],
    ['a KeyObject', createSecretKey(bytes)],
  ])('has no spelling of a signing secret that is %s', (_, secret) => {
    const spellings = [SECRET_TEXT];
    if (typeof secret !== 'string')
      spellings.push(bytes.toString('hex'), bytes.toString('base64url'));
    const kept = describeWith([secret], new Error(`order 7: ${spellings.join(' ')}`));
    expect(kept).toContain('order 7');
    for (const spelling of spellings) expect(kept).not.toContain(spelling);
  });

  it.each([undefined, null, 7, {}, { export: () => 'no bytes' }])(
    'stays where a secret is %o, which can not be read',
    (secret) => {
      expect(describeWith([secret], new Error('order 7'))).toContain('order 7');
    },
  );

  it('is left out if the secrets are not known', () => {
    expect(describeWith(undefined, new Error('order 7'))).not.toContain('order 7');
    const unreadable = {
      export() {
        throw new Error('no secrets');
      },
    };
    expect(describeWith([unreadable], new Error('order 7'))).toMatch(/redacted/i);
  });
});

describe('a store that keeps failures', () => {
  it('has a list of them', () => {
    const { process, attention } = memoryStore();
    expect(keepsFailures({ process, attention })).toBe(true);
    expect(keepsFailures({ process })).toBe(false);
  });

  it('is asked for the change of this key and payment alone', async () => {
    const store = memoryStore();
    const onPayment = () => Promise.reject(new Error('broken'));
    const scene = createScene({ store, onPayment });
    await scene.receive(post({ status: 'pending' }));
    await scene.receive(post({ status: 'paid' }));
    const [first, second] = scene.handled;
    const referenceNumber = first?.payment.referenceNumber ?? '';
    for (const callback of [first, second]) {
      const key = callback?.key ?? '';
      expect(await findKeptChange(store, { key, referenceNumber })).toMatchObject({ key });
      expect(await findKeptChange(store, { key, referenceNumber: 'another' })).toBeUndefined();
    }
  });
});
