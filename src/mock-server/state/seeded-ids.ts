import { hash, randomBytes } from 'node:crypto';
export type IdPurpose = 'referenceNumber' | 'providerReference' | 'requestId' | 'delivery';

/**
 * Identifiers derived from a seed. Each purpose has a separate sequence, so the third referenceNumber of
 * seed 7 is always the same, however many requests failed before.
 */
export class SeededIds {
  readonly #seed: number;
  #counts = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The next identifier, in the shape of a UUID of version 4. */
  next(purpose: IdPurpose): string {
    const count = this.#counts.get(purpose) ?? 0;
    this.#counts.set(purpose, count + 1);
    // A hash in counter mode, which separates neighbouring seeds.
    return toUuid(hash('sha256', `${this.#seed}.${purpose}.${count}`, 'hex'));
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Goes on after those of an earlier run; by default from the start. */
  restart(counts: Readonly<Record<string, number>> = {}): void {
    this.#counts = new Map(Object.entries(counts));
  }
}

/**
 * A default credential. Derived from the seed only when that was given: a random seed could be worked out from
 * the identifiers, and from it the signing secret.
 */
export function defaultCredential(
  { seed, isSeedGiven }: { readonly seed: number; readonly isSeedGiven: boolean },
  purpose: string,
): string {
  const hex = isSeedGiven
    ? hash('sha256', `${seed}.token.${purpose}`, 'hex')
    : randomBytes(12).toString('hex');
  return `mock_${purpose}_${hex.slice(0, 24)}`;
}

function toUuid(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex[16] as string, 16) & 3];
  const [time, version] = [hex.slice(0, 8), `4${hex.slice(13, 16)}`];
  const parts = [time, hex.slice(8, 12), version, variant + hex.slice(17, 20), hex.slice(20, 32)];
  // Joined, not added up: V8 would keep the parts.
  return parts.join('-');
}
