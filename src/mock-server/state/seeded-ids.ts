import { hash, randomBytes } from 'node:crypto';

/** What an identifier is for. Each purpose has a separate sequence. */
export type IdPurpose = 'referenceNumber' | 'providerReference' | 'requestId' | 'delivery';

/**
 * Identifiers derived from a seed. Each purpose has a separate sequence, so the third referenceNumber of
 * seed 7 is always the same, however many requests failed before.
 */
export class SeededIds {
  readonly seed: number;
  /** How many were given. */
  readonly #counts = new Map<IdPurpose, number>();

  constructor(seed: number) {
    this.seed = seed;
  }

  /** The next identifier, in the shape of a UUID of version 4. */
  next(purpose: IdPurpose): string {
    const count = this.#counts.get(purpose) ?? 0;
    this.#counts.set(purpose, count + 1);
    // A hash in counter mode, which separates neighbouring seeds.
    return toUuid(hash('sha256', `${this.seed}.${purpose}.${count}`, 'buffer'));
  }

  /** How many identifiers were given, by purpose. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Goes on after those of an earlier run. */
  restore(counts: Readonly<Record<string, number>>): void {
    for (const [purpose, count] of Object.entries(counts)) {
      this.#counts.set(purpose as IdPurpose, count);
    }
  }

  /** Restarts every sequence. */
  restart(): void {
    this.#counts.clear();
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
  const bytes = isSeedGiven
    ? hash('sha256', `${seed}.token.${purpose}`, 'buffer')
    : randomBytes(12);
  return `mock_${purpose}_${bytes.toString('hex', 0, 12)}`;
}

function toUuid(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
