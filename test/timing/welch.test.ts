import { describe, expect, test } from 'vitest';
import { largestT, type Measurement, Sample, welchT } from './welch.js';

function sampleOf(...values: readonly number[]): Sample {
  const sample = new Sample();
  for (const value of values) sample.add(value);
  return sample;
}

/** Numbers from 0 to below 1, the same ones at every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function measurements(differsBy: number, outliers = 0): Measurement[] {
  const random = seeded(7);
  return Array.from({ length: 20_000 }, (_, index) => {
    const isNear = random() < 0.5;
    const noise = 100 + 10 * random();
    const outlier = index < outliers ? 1e6 * random() : 0;
    return { isNear, duration: noise + outlier + (isNear ? differsBy : 0) };
  });
}

describe("Welch's t", () => {
  test('is what statistics of Python gives', () => {
    // (mean(a) - mean(b)) / sqrt(variance(a) / len(a) + variance(b) / len(b))
    const a = sampleOf(27.5, 21.0, 19.0, 23.6, 17.0, 17.9);
    const b = sampleOf(27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8);
    expect(a.mean).toBeCloseTo(21, 10);
    expect(a.variance).toBeCloseTo(15.724, 10);
    expect(welchT(a, b)).toBeCloseTo(-1.499821, 6);
    expect(welchT(b, a)).toBeCloseTo(1.499821, 6);
  });
});

describe('the largest t', () => {
  test('is small for two classes that do not differ', () => {
    expect(Math.abs(largestT(measurements(0)).t)).toBeLessThan(4.5);
  });

  test('is large for two that differ by a hundredth', () => {
    expect(largestT(measurements(1)).t).toBeGreaterThan(10);
    expect(largestT(measurements(-1)).t).toBeLessThan(-10);
  });

  test('is found below a percentile when outliers hide it', () => {
    const { t, percentile } = largestT(measurements(1, 150));
    expect(t).toBeGreaterThan(10);
    expect(percentile).toBeLessThan(1);
  });
});
