import { execFileSync } from 'node:child_process';

/**
 * The lines that changed between `base` and HEAD, per part, in Stryker's notation (`file:from-to`), at most
 * `limit` in all; and how many were taken and how many changed.
 *
 * @param {string} base a commit
 * @param {Record<string, { mutate: string[] }>} parts
 * @param {number} limit
 */
export function changedLines(base, parts, limit) {
  /** @type {Map<string, string[]>} */
  const ranges = new Map();
  let taken = 0;
  let all = 0;
  for (const { file, from, count } of changedHunks(base)) {
    const part = partOf(file, parts);
    if (!part) continue;
    all += count;
    const room = Math.min(count, limit - taken);
    if (room <= 0) continue;
    taken += room;
    ranges.set(part, [...(ranges.get(part) ?? []), `${file}:${from}-${from + room - 1}`]);
  }
  return { ranges, taken, all };
}

/**
 * The part in which a file is mutated, if any.
 *
 * @param {string} file
 * @param {Record<string, { mutate: string[] }>} parts
 */
export function partOf(file, parts) {
  return Object.keys(parts).find((name) =>
    parts[name].mutate.reduce(
      (isIn, pattern) =>
        pattern.startsWith('!')
          ? isIn && !toRegExp(pattern.slice(1)).test(file)
          : isIn || toRegExp(pattern).test(file),
      false,
    ),
  );
}

/** Converts a pattern of a part: `*` matches within a folder, `**` also in the folders below it. */
function toRegExp(pattern) {
  const source = pattern
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(?:.+/)?')
    .replace(/\*(?=\\.)/, '[^/]*');
  return new RegExp(`^${source}$`);
}

function changedHunks(base) {
  const diff = execFileSync(
    'git',
    ['diff', '--unified=0', '--no-color', base, 'HEAD', '--', 'src'],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  );
  const hunks = [];
  let file = '';
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) file = line.slice('+++ b/'.length);
    const [, from, count = '1'] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (from && Number(count) > 0) hunks.push({ file, from: Number(from), count: Number(count) });
  }
  return hunks;
}
