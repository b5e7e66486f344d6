import { createSecretKey } from 'node:crypto';
import type { SigningSecret } from '../../../src/callback/options.js';
import { NOW_SECONDS } from '../../callback/sample-callback.js';

/** Late in the second: the window counts whole ones. */
export const NOW_MS = NOW_SECONDS * 1000 + 999;

/** The options of one verifier. */
export interface Profile {
  readonly secrets: readonly (string | Uint8Array)[];
  readonly toleranceSeconds: number;
  readonly signatureEncoding: 'auto' | 'hex' | 'base64' | 'base64url';
  readonly timestampUnit: 'seconds' | 'milliseconds';
}

const DEFAULTS = {
  toleranceSeconds: 300,
  signatureEncoding: 'auto',
  timestampUnit: 'seconds',
} as const;

const bytes = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (index * 89 + length) % 256);

export const profiles: readonly Profile[] = [
  { ...DEFAULTS, secrets: ['whsec_9c1f0ab7'] },
  { ...DEFAULTS, secrets: ['one', 'two', 'three'] },
  { ...DEFAULTS, secrets: ['two', 'one', 'two'], toleranceSeconds: 0 },
  { ...DEFAULTS, secrets: [bytes(1), bytes(32)], toleranceSeconds: 1 },
  // HMAC takes a key of more than a block of 64 bytes by its digest.
  { ...DEFAULTS, secrets: [bytes(63), bytes(64), bytes(65)], signatureEncoding: 'hex' },
  { ...DEFAULTS, secrets: ['schlüssel-\u{1F511}'], signatureEncoding: 'base64' },
  { ...DEFAULTS, secrets: [bytes(200)], signatureEncoding: 'base64url' },
  { ...DEFAULTS, secrets: ['one'], timestampUnit: 'milliseconds' },
  { ...DEFAULTS, secrets: ['one'], timestampUnit: 'milliseconds', toleranceSeconds: 0 },
  // Wide enough to let any number of seconds through, and to meet the end of them.
  { ...DEFAULTS, secrets: ['one'], toleranceSeconds: 200_000_000_000 },
];

/** What a verifier of that profile is made with; every second one gets its keys as KeyObjects. */
export function toOptions(profile: Profile, index: number) {
  const { secrets, ...policy } = profile;
  const keys: SigningSecret[] = secrets.map((secret) =>
    index % 2 === 0 ? secret : createSecretKey(Buffer.from(secret)),
  );
  return {
    ...policy,
    now: () => NOW_MS,
    signingSecret: keys.length === 1 ? (keys[0] as SigningSecret) : keys,
  };
}
