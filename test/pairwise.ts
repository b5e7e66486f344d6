/**
 * Rows in which every two values of different dimensions meet, in place of the product of all dimensions: about as many
 * as the two longest multiply to. The same rows each time.
 */
export function pairwise<const Dimensions extends readonly (readonly string[])[]>(
  dimensions: Dimensions,
): { -readonly [At in keyof Dimensions]: string }[] {
  type Place = readonly [at: number, value: string];
  const places = dimensions.map((values, at) => values.map((value): Place => [at, value]));
  const keyOf = (one: Place, other: Place): string =>
    JSON.stringify([one, other].sort(([a], [b]) => a - b));
  const missing = new Map<string, Place[]>();
  for (const one of places.flat()) {
    for (const other of places.slice(0, one[0]).flat()) {
      missing.set(keyOf(one, other), [one, other]);
    }
  }
  const rows: string[][] = [];
  // Each row has a pair that no row has yet, and of the other dimensions what meets the most for the first time.
  for (const pair of missing.values()) {
    const row = [...pair];
    for (const values of places.filter((_, at) => row.every(([taken]) => taken !== at))) {
      const gain = (value: Place) => row.filter((other) => missing.has(keyOf(value, other))).length;
      row.push(values.reduce((best, value) => (gain(value) > gain(best) ? value : best)));
    }
    for (const one of row) for (const other of row) missing.delete(keyOf(one, other));
    rows.push(row.sort(([a], [b]) => a - b).map(([, value]) => value));
  }
  return rows as { -readonly [At in keyof Dimensions]: string }[];
}
