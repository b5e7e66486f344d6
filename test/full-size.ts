/** CI runs every case; at a desk a part of them is enough, and of random ones each run has others. */
export const isFullSize = process.env['CI'] === 'true';

/** A number of random cases: all in CI, a quarter of them elsewhere. */
export function sized(cases: number): number {
  return isFullSize ? cases : Math.ceil(cases / 4);
}
