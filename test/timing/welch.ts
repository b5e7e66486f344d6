/** Mean and variance of a stream of numbers (Welford), and of nothing else: no number is kept. */
export class Sample {
  count = 0;
  mean = 0;
  #squares = 0;

  add(value: number): void {
    this.count += 1;
    const delta = value - this.mean;
    this.mean += delta / this.count;
    this.#squares += delta * (value - this.mean);
  }

  get variance(): number {
    return this.#squares / (this.count - 1);
  }
}

/** Welch's t: how many standard errors the means of two samples lie apart. */
export function welchT(a: Sample, b: Sample): number {
  return (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count);
}

/** One measured call: of which class, and for how long. */
export interface Measurement {
  readonly isNear: boolean;
  readonly duration: number;
}

/**
 * Crops as dudect does: what lies beyond a percentile of all measurements together is an interrupt
 * or a collection of garbage, not the code. Which one is right is not known before, so t is taken
 * over several, and the largest counts.
 */
const PERCENTILES = [1, 0.99, 0.95, 0.9, 0.75, 0.5] as const;

export interface Verdict {
  /** The t of the largest absolute value. */
  readonly t: number;
  /** The percentile it was found at. */
  readonly percentile: number;
}

/** The largest t over the percentiles. */
export function largestT(measurements: readonly Measurement[]): Verdict {
  const sorted = Float64Array.from(measurements, ({ duration }) => duration).sort();
  const verdicts = PERCENTILES.map((percentile) => {
    const limit = sorted[Math.ceil(sorted.length * percentile) - 1] ?? Number.POSITIVE_INFINITY;
    const near = new Sample();
    const far = new Sample();
    for (const { isNear, duration } of measurements) {
      if (duration <= limit) (isNear ? near : far).add(duration);
    }
    return { t: welchT(near, far), percentile };
  });
  return verdicts.reduce((a, b) => (Math.abs(b.t) > Math.abs(a.t) ? b : a));
}
