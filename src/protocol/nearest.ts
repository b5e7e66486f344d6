/** The candidate that `word` probably stands for; `undefined` if none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  // Up to three letters: one edit away; longer words: two.
  let leastDistance = word.length <= 3 ? 2 : 3;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    if (distance < leastDistance) {
      best = candidate;
      leastDistance = distance;
    }
  }
  return best;
}

// Levenshtein, one row at a time.
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= right.length; column += 1) {
      const substituted = at(row, column - 1) + (letter === right[column - 1] ? 0 : 1);
      next.push(Math.min(substituted, at(row, column) + 1, at(next, column - 1) + 1));
    }
    row = next;
  }
  return at(row, right.length);
}

const at = (row: readonly number[], index: number): number => row[index] as number;
