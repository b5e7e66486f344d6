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
    return toUuid(hash('sha256', `${this.seed}.${purpose}.${count}`));
  }

  /** A default credential, the same on every call. */
  token(purpose: string): string {
    return writeToken(purpose, hash('sha256', `${this.seed}.token.${purpose}`));
  }

  /** Restarts every sequence. */
  restart(): void {
    this.#counts.clear();
  }
}

interface ChosenSeed {
  readonly seed: number;
  readonly isSeedGiven: boolean;
}

/**
 * A default credential. Derived from the seed only when that was given: a random seed could be worked out from
 * the identifiers, and from it the signing secret.
 */
export function defaultCredential({ seed, isSeedGiven }: ChosenSeed, purpose: string): string {
  return isSeedGiven
    ? new SeededIds(seed).token(purpose)
    : writeToken(purpose, randomBytes(12).toString('hex'));
}

function writeToken(purpose: string, hex: string): string {
  return `mock_${purpose}_${hex.slice(0, 24)}`;
}

/** Two bits of the variant, then two that are random. */
const VARIANT_DIGITS = '89ab';

function toUuid(hex: string): string {
  const variant = VARIANT_DIGITS.charAt(Number.parseInt(hex.charAt(16), 16) & 0x3);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
