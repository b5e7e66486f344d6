import fc from 'fast-check';

/** How often and from which seed a target is run. */
export interface FuzzOptions {
  /** How many cases at least. */
  readonly cases: number;
  readonly seed: number;
}

/** The result of a run that found nothing. */
export interface FuzzResult {
  readonly cases: number;
  /** How often what was reached: shows that the cases are not all of one kind. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Counts by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, times = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }

  get counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

interface BatchedProperty<Case> extends FuzzOptions {
  readonly arbitrary: fc.Arbitrary<Case>;
  /** How many cases are checked together at most: what they wait for, they wait for at once. */
  readonly batchSize: number;
  /**
   * Throws for a case that fails; fast-check then looks for the smallest batch that does. Returns how
   * many cases the batch was, where one of it counts for several.
   */
  check(batch: readonly Case[]): Promise<number | undefined>;
}

const RUNS_PER_ROUND = 20;

/** A run that has not ended by then hangs, and fails. Far above what any takes. */
export const HANG_MS = 300_000;

/** Checks batches of cases until there were enough of them. Returns how many there were. */
export async function checkBatches<Case>(property: BatchedProperty<Case>): Promise<number> {
  const { arbitrary, batchSize, cases, seed, check } = property;
  const batches = fc.array(arbitrary, { minLength: 1, maxLength: batchSize, size: 'max' });
  let checked = 0;
  // Every round has a different seed: fast-check keeps a whole round in memory to shrink it.
  for (let round = 0; checked < cases; round += 1) {
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        checked += (await check(batch)) ?? batch.length;
      }),
      {
        seed: (seed + round) | 0,
        timeout: HANG_MS,
        numRuns: Math.min(RUNS_PER_ROUND, Math.ceil((cases - checked) / (batchSize / 2))),
      },
    );
  }
  return checked;
}

/** A seed from the environment (FUZZ_SEED), or a random one; the caller prints it. */
export function chooseSeed(): number {
  const given = process.env['FUZZ_SEED'];
  return given ? Number(given) : Math.floor(Math.random() * 2 ** 31);
}
