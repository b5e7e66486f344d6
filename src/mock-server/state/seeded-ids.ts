import { hash, randomBytes } from 'node:crypto';

/** The use of an identifier. Each has its own sequence. */
export type IdPurpose = 'referenceNumber' | 'providerReference' | 'requestId' | 'delivery';

/**
 * Identifiers that follow from a seed: the third referenceNumber of seed 7 is always the same, however
 * many requests failed before, since each purpose has its own sequence.
 */
export class SeededIds {
  readonly seed: number;
  readonly #drawn = new Map<IdPurpose, number>();

  constructor(seed: number) {
    this.seed = seed;
  }

  /** The next identifier, in the shape of a UUID of version 4. */
  next(purpose: IdPurpose): string {
    const count = this.#drawn.get(purpose) ?? 0;
    this.#drawn.set(purpose, count + 1);
    return toUuid(this.#digest(`${purpose}.${count}`));
  }

  /** A default credential, the same at every call. */
  token(purpose: string): string {
    return writeToken(purpose, this.#digest(`token.${purpose}`));
  }

  /** Starts every sequence again. */
  restart(): void {
    this.#drawn.clear();
  }

  // A hash in counter mode: a small generator without state that separates neighbouring seeds.
  #digest(label: string): string {
    return hash('sha256', `${this.seed}.${label}`);
  }
}

interface ChosenSeed {
  readonly seed: number;
  readonly isSeedGiven: boolean;
}

/**
 * A default credential. It follows only from a seed that was given: a random seed can be worked out
 * from the identifiers, and with it the signing secret.
 */
export function defaultCredential({ seed, isSeedGiven }: ChosenSeed, purpose: string): string {
  return isSeedGiven
    ? new SeededIds(seed).token(purpose)
    : writeToken(purpose, randomBytes(12).toString('hex'));
}

function writeToken(purpose: string, hex: string): string {
  return `mock_${purpose}_${hex.slice(0, 24)}`;
}

function toUuid(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
